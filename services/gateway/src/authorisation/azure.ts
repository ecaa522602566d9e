import { readFile } from 'node:fs/promises';
import { authorisationFailed, settingInvalid, settingMissing } from './failure.ts';
import { lendHostIdentity } from './host-identity.ts';
import { askMetadata } from './metadata-service.ts';
import { bareToken, withCredential } from './own-headers.ts';
import { type Issued, tokenKey } from './token-cache.ts';
import { readOauthToken } from './token-endpoint.ts';
import type {
  AuthorisationTools,
  AuthorisedRequest,
  UnauthorisedRequest,
} from './unauthorised-request.ts';

const defaultScope = 'https://cognitiveservices.azure.com/.default';

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
    default:
      throw settingInvalid(
        'azure-auth-mode',
        'must be default, apiKey, entra, managed or workload',
      );
  }
}

function scopeOf({ setting }: UnauthorisedRequest): string {
  return setting('azure-entra-scope') ?? defaultScope;
}

/** https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow */
function fromClientSecret(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<string> {
  const needed = (name: string) => {
    const value = request.setting(name);
    if (value === undefined) throw settingMissing(name, 'azure-auth-mode entra');
    return value;
  };
  const tenant = needed('azure-entra-tenant-id');
  const clientId = needed('azure-entra-client-id');
  const secret = needed('azure-entra-client-secret');
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

/** https://azure.github.io/azure-workload-identity/docs */
function fromWorkloadIdentity(
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
      return askEntra(
        { tenant, tenantSetting: names[0] },
        {
          client_id: clientId,
          scope,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion.trim(),
        },
        tools,
        signal,
      );
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
