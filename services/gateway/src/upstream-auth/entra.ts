import { readFile } from 'node:fs/promises';
import type { UnauthorisedRequest } from '../calls/call-authoriser.ts';
import type { AuthorisationTools } from './authorisation-tools.ts';
import { machineCredentials } from './aws/machine-credentials.ts';
import { homeRegion } from './aws/regions.ts';
import { getWebIdentityToken } from './aws/sts.ts';
import { authorisationFailed, settingInvalid, settingMissing } from './failure.ts';
import { lendHostIdentity } from './host-identity.ts';
import { type Issued, tokenKey } from './token-cache.ts';
import { readOauthToken } from './token-endpoint.ts';

// Tokens of Microsoft Entra: what is shown for them differs, where they come from does not.

const defaultScope = 'https://cognitiveservices.azure.com/.default';

export function scopeOf({ setting }: UnauthorisedRequest): string {
  return setting('azure-entra-scope') ?? defaultScope;
}

/** https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
export function fromClientSecret(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<string> {
  const tenant = needed(request, 'azure-entra-tenant-id');
  const clientId = needed(request, 'azure-entra-client-id');
  const secret = needed(request, 'azure-entra-client-secret');
  const scope = scopeOf(request);
  const key = tokenKey('azure-entra', tenant, clientId, secret, scope);
  return tools.tokens.get(key, request.signal, (signal) =>
    askEntra(
      { tenant, tenantSetting: 'azure-entra-tenant-id' },
      { client_id: clientId, client_secret: secret, scope },
      tools,
      signal,
    ),
  );
}

function needed({ setting }: UnauthorisedRequest, name: string): string {
  const value = setting(name);
  if (value === undefined) throw settingMissing(name, 'This azure-auth-mode');
  return value;
}

/** AWS says who this machine is, and Entra's application trusts AWS to. */
export function fromAwsIdentity(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<string> {
  const { cloud, tokens } = tools;
  const names = ['azure-entra-tenant-id', 'azure-entra-client-id'] as const;
  lendHostIdentity(request, cloud, ['azure-auth-mode', 'azure-entra-scope', ...names]);
  const tenant = needed(request, names[0]);
  const clientId = needed(request, names[1]);
  const scope = scopeOf(request);
  const key = tokenKey('azure-aws', tenant, clientId, scope);
  return tokens.get(key, request.signal, async (signal) => {
    const region = homeRegion(cloud);
    const machine = await machineCredentials(region, tools, signal);
    const assertion = await getWebIdentityToken(
      'api://AzureADTokenExchange',
      machine,
      region,
      tools,
      signal,
    );
    const form = assertionForm(clientId, scope, assertion);
    return askEntra({ tenant, tenantSetting: names[0] }, form, tools, signal);
  });
}

function assertionForm(clientId: string, scope: string, assertion: string): Record<string, string> {
  return {
    client_id: clientId,
    scope,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  };
}

/** https://azure.github.io/azure-workload-identity/docs */
export function fromWorkloadIdentity(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<string> {
  const { cloud, tokens } = tools;
  const names = ['azure-workload-tenant-id', 'azure-workload-client-id'] as const;
  lendHostIdentity(request, cloud, ['azure-auth-mode', 'azure-entra-scope', ...names]);
  const tenant = request.setting(names[0]) ?? cloud.AZURE_TENANT_ID;
  const clientId = request.setting(names[1]) ?? cloud.AZURE_CLIENT_ID;
  const file = cloud.AZURE_FEDERATED_TOKEN_FILE;
  if (tenant === undefined || clientId === undefined || file === undefined)
    throw authorisationFailed(
      'Azure’s workload identity',
      'needs AZURE_FEDERATED_TOKEN_FILE, AZURE_TENANT_ID and AZURE_CLIENT_ID in the gateway’s environment',
    );
  const scope = scopeOf(request);
  return tokens.get(
    tokenKey('azure-workload', tenant, clientId, scope),
    request.signal,
    async (signal) => {
      const assertion = await readFile(file, 'utf8').catch((cause: unknown) => {
        throw authorisationFailed('Azure’s federated token file', 'cannot be read', cause);
      });
      const form = assertionForm(clientId, scope, assertion.trim());
      return askEntra({ tenant, tenantSetting: names[0] }, form, tools, signal);
    },
  );
}

async function askEntra(
  { tenant, tenantSetting }: { tenant: string; tenantSetting: string },
  form: Record<string, string>,
  { askTokenEndpoint, cloud, nowMs }: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<string>> {
  const step = 'Microsoft Entra’s token endpoint';
  if (!/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(tenant))
    throw settingInvalid(tenantSetting, 'must be the id or the domain of a tenant');
  const authority = (cloud.AZURE_AUTHORITY_HOST ?? '').replace(/\/$/, '');
  const reply = await askTokenEndpoint({
    step,
    url: `${authority}/${tenant}/oauth2/v2.0/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
    signal,
  });
  return readOauthToken(step, reply, nowMs());
}
