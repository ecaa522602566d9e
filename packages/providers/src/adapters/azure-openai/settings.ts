import { checkedSetting } from '../../address.ts';
import type { CallFacts } from '../../call-facts.ts';
import { arrayOf, objectOf, parseJson, stringOf } from '../../json/json-access.ts';

/** How an Azure credential is turned into a header; read where tokens are fetched. */
export const azureAuthSettings = [
  'azure-auth-mode',
  'azure-ad-token',
  'azure-managed-client-id',
  'azure-workload-client-id',
  'azure-entra-tenant-id',
  'azure-entra-client-id',
  'azure-entra-client-secret',
  'azure-entra-scope',
] as const;

/** The version whose paths name no deployment and whose address has no query. */
export const unversioned = 'v1';

export interface Deployment {
  /** Undefined when nothing but the model names one. */
  name: string | undefined;
  /** Undefined when nobody set one. */
  apiVersion: string | undefined;
}

/**
 * The deployment that serves a model: of the credential's list the one named
 * for the model, else the list's default, else the one that is set, if any.
 */
export function deploymentOf({ model, setting }: CallFacts): Deployment {
  const listed = listedDeployment(
    setting('azure-deployment-config') ?? setting('deployments'),
    model,
  );
  const name =
    listed?.name ??
    setting('azure-deployment-id') ??
    setting('deployment-id') ??
    setting('azure-deployment-name');
  const apiVersion = listed?.apiVersion ?? setting('azure-api-version') ?? setting('api-version');
  return {
    name,
    apiVersion:
      apiVersion === undefined ? undefined : checkedSetting('azure-api-version', apiVersion),
  };
}

interface ListedDeployment extends Deployment {
  answersTo: (string | undefined)[];
  isDefault: boolean;
}

/** Both spellings: that of integrations and that of configs. */
function listedDeployment(list: string | undefined, model: string): Deployment | undefined {
  if (list === undefined) return undefined;
  const deployments = (arrayOf(parseJson(list)) ?? []).map((value): ListedDeployment => {
    const row = objectOf(value);
    const name = stringOf(row?.azure_deployment_name) ?? stringOf(row?.deployment_id);
    return {
      name,
      apiVersion: stringOf(row?.azure_api_version) ?? stringOf(row?.api_version),
      answersTo: [stringOf(row?.alias), stringOf(row?.azure_model_slug), name],
      isDefault: row?.is_default === true,
    };
  });
  return (
    deployments.find((deployment) => deployment.answersTo.includes(model)) ??
    deployments.find((deployment) => deployment.isDefault)
  );
}
