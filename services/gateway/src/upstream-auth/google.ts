import { type AddressAuthor, checkUpstreamUrl, PrivateKeyFault } from '@sluice/outbound';
import type { AuthorisedRequest, UnauthorisedRequest } from '../calls/call-authoriser.ts';
import type { AuthorisationTools } from './authorisation-tools.ts';
import { settingInvalid, settingMissing } from './failure.ts';
import { cloudPlatform as scope, tradeAwsIdentity } from './google-federation.ts';
import { lendHostIdentity } from './host-identity.ts';
import { askMetadata } from './metadata-service.ts';
import { bareToken, withCredential } from './own-headers.ts';
import { type Issued, tokenKey } from './token-cache.ts';
import { parsedObject, readOauthToken } from './token-endpoint.ts';

/** https://developers.google.com/identity/protocols/oauth2/service-account */
const tokenUrl = 'https://oauth2.googleapis.com/token';
const jsonSetting = 'vertex-service-account-json';
/** Google writes 2.4 KB. */
const jsonCharsMax = 32_768;

export async function authoriseGoogle(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<AuthorisedRequest> {
  const token = await findToken(request, tools);
  return withCredential(request, { authorization: `Bearer ${token}` });
}

/** A service account, else an access token as the key, else the machine's own account. */
function findToken(
  request: UnauthorisedRequest,
  tools: AuthorisationTools,
): Promise<string> | string {
  const key = bareToken(request.apiKey);
  const json = request.setting(jsonSetting) ?? (key.startsWith('{') ? key : undefined);
  if (json !== undefined) {
    const isSaved = request.savedSetting?.(jsonSetting) === json;
    const tokenUrlBy = isSaved ? 'admin' : 'caller';
    return tools.tokens.get(tokenKey('google', json, scope), request.signal, (signal) =>
      exchangeAssertion(readServiceAccount(json, tokenUrlBy), tools, request.owner, signal),
    );
  }
  if (request.setting('vertex-auth-type') !== 'workload') {
    if (key !== '') return key;
    if (tools.cloud.GCP_AUTH_MODE !== 'workload')
      throw settingMissing(jsonSetting, 'Google without an access token');
  }
  lendHostIdentity(request, tools.cloud, ['vertex-auth-type']);
  return tools.tokens.get(tokenKey('google-workload'), request.signal, (signal) =>
    tools.cloud.GCP_WIF_AUDIENCE === undefined
      ? askWorkloadIdentity(tools, signal)
      : tradeAwsIdentity(tools.cloud.GCP_WIF_AUDIENCE, tools, signal),
  );
}

interface ServiceAccount {
  email: string;
  /** PEM. */
  key: string;
  keyId: string | undefined;
  tokenUrl: string;
  tokenUrlBy: AddressAuthor;
}

function readServiceAccount(json: string, tokenUrlBy: AddressAuthor): ServiceAccount {
  if (json.length > jsonCharsMax)
    throw settingInvalid(jsonSetting, `must not be longer than ${jsonCharsMax} characters`);
  const account = parsedObject(json);
  const { client_email: email, private_key: pem, private_key_id: keyId } = account ?? {};
  if (typeof email !== 'string' || typeof pem !== 'string')
    throw settingInvalid(jsonSetting, 'must be the JSON of a service account’s key');
  const uri = account?.token_uri;
  return {
    email,
    key: pem,
    keyId: typeof keyId === 'string' ? keyId : undefined,
    tokenUrl: typeof uri === 'string' ? uri : tokenUrl,
    tokenUrlBy,
  };
}

/** Trades a statement signed with the account's key for an access token. */
async function exchangeAssertion(
  account: ServiceAccount,
  { askTokenEndpoint, hostRules, keys, nowMs }: AuthorisationTools,
  owner: string,
  signal: AbortSignal,
): Promise<Issued<string>> {
  const step = 'Google’s token endpoint';
  if (account.tokenUrl !== tokenUrl)
    checkUpstreamUrl(account.tokenUrl, hostRules, `${jsonSetting}.token_uri`, account.tokenUrlBy);
  const atSeconds = Math.floor(nowMs() / 1000);
  const statement = [
    {
      alg: 'RS256',
      typ: 'JWT',
      ...(account.keyId === undefined ? {} : { kid: account.keyId }),
    },
    {
      scope,
      iss: account.email,
      sub: account.email,
      aud: account.tokenUrl,
      iat: atSeconds,
      exp: atSeconds + 3600,
    },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.');
  const signature = await keys
    .sign({ key: { text: account.key }, bytes: Buffer.from(statement), owner, signal })
    .catch((error: unknown) => {
      if (!(error instanceof PrivateKeyFault)) throw error;
      throw settingInvalid(jsonSetting, `holds a private_key that ${error.message}`);
    });
  const assertion = `${statement}.${signature.toString('base64url')}`;
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await askTokenEndpoint({
    step,
    url: account.tokenUrl,
    by: account.tokenUrlBy,
    headers,
    body,
    signal,
  });
  return readOauthToken(step, reply, nowMs());
}

/** https://cloud.google.com/compute/docs/metadata/querying-metadata */
async function askWorkloadIdentity(
  { cloud, nowMs }: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<string>> {
  const step = 'Google’s metadata service';
  const reply = await askMetadata({
    step,
    url: `http://${cloud.GCE_METADATA_HOST}/computeMetadata/v1/instance/service-accounts/default/token`,
    headers: { 'metadata-flavor': 'Google' },
    signal,
  });
  return readOauthToken(step, reply, nowMs());
}
