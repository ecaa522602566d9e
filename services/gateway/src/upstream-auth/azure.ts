import type { AuthorisedRequest, UnauthorisedRequest } from '../calls/call-authoriser.ts';
import type { AuthorisationTools } from './authorisation-tools.ts';
import { fromAwsIdentity, fromClientSecret, fromWorkloadIdentity, scopeOf } from './entra.ts';
import { authorisationFailed, settingInvalid } from './failure.ts';
import { lendHostIdentity } from './host-identity.ts';
import { askMetadata } from './metadata-service.ts';
import { bareToken, withCredential } from './own-headers.ts';
import { tokenKey } from './token-cache.ts';
import { readOauthToken } from './token-endpoint.ts';

/** A token that is given wins, then the mode decides; without either it is the key. */
export async function authoriseAzure(
  request: UnauthorisedRequest,
  keyHeader: 'api-key' | 'authorization' | 'x-api-key',
  tools: AuthorisationTools,
): Promise<AuthorisedRequest> {
  const given = request.setting('azure-ad-token');
  const mode = request.setting('azure-auth-mode') ?? 'default';
  if (given === undefined && (mode === 'default' || mode === 'apiKey')) {
    if (request.apiKey === '')
      throw authorisationFailed('The authorisation with Azure', 'has neither a key nor a token');
    const key = request.apiKey;
    return withCredential(request, {
      [keyHeader]: keyHeader === 'authorization' ? `Bearer ${bareToken(key)}` : key,
    });
  }
  const token = given === undefined ? await issueToken(request, mode, tools) : bareToken(given);
  if (token === '') throw settingInvalid('azure-ad-token', 'holds no token');
  return withCredential(request, { authorization: `Bearer ${token}` });
}

function issueToken(
  request: UnauthorisedRequest,
  mode: string,
  tools: AuthorisationTools,
): Promise<string> {
  switch (mode) {
    case 'entra':
      return fromClientSecret(request, tools);
    case 'managed':
      return fromManagedIdentity(request, tools);
    case 'workload':
      return fromWorkloadIdentity(request, tools);
    case 'entraFederated':
      return fromAwsIdentity(request, tools);
    default:
      throw settingInvalid(
        'azure-auth-mode',
        'must be default, apiKey, entra, entraFederated, managed or workload',
      );
  }
}

/** https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token */
function fromManagedIdentity(
  request: UnauthorisedRequest,
  { cloud, tokens, nowMs }: AuthorisationTools,
): Promise<string> {
  const clientSetting = 'azure-managed-client-id';
  lendHostIdentity(request, cloud, ['azure-auth-mode', 'azure-entra-scope', clientSetting]);
  const clientId = request.setting(clientSetting) ?? cloud.AZURE_MANAGED_CLIENT_ID;
  // This older protocol names the resource itself, not what may be done with it.
  const resource = scopeOf(request).replace(/\.default$/, '');
  const platform = cloud.IDENTITY_ENDPOINT;
  const query = new URLSearchParams({
    'api-version':
      cloud.AZURE_MANAGED_VERSION ?? (platform === undefined ? '2018-02-01' : '2019-08-01'),
    resource,
    ...(clientId === undefined ? {} : { client_id: clientId }),
  });
  const base =
    platform ?? `${cloud.AZURE_POD_IDENTITY_AUTHORITY_HOST}/metadata/identity/oauth2/token`;
  const step = 'Azure’s managed identity service';
  return tokens.get(
    tokenKey('azure-managed', clientId, resource),
    request.signal,
    async (signal) => {
      const reply = await askMetadata({
        step,
        url: `${base}?${query}`,
        headers:
          platform === undefined
            ? { metadata: 'true' }
            : { 'x-identity-header': cloud.IDENTITY_HEADER ?? '' },
        signal,
      });
      return readOauthToken(step, reply, nowMs());
    },
  );
}
