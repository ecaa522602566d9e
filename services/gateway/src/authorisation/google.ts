import { createPrivateKey, type KeyObject } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import { checkUpstreamUrl } from '@sluice/outbound';
import { SignJWT } from 'jose';
import { settingInvalid, settingMissing } from './failure.ts';
import { cloudPlatform as scope, tradeAwsIdentity } from './google-federation.ts';
import { lendHostIdentity } from './host-identity.ts';
import { askMetadata } from './metadata-service.ts';
import { bareToken, withCredential } from './own-headers.ts';
import { type Issued, tokenKey } from './token-cache.ts';
import { parsedObject, readOauthToken } from './token-endpoint.ts';
import type {
  AuthorisationTools,
  AuthorisedRequest,
  UnauthorisedRequest,
} from './unauthorised-request.ts';

/** https://developers.google.com/identity/protocols/oauth2/service-account */
const tokenUrl = 'https://oauth2.googleapis.com/token';
const jsonSetting = 'vertex-service-account-json';

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
  if (json !== undefined)
    return tools.tokens.get(tokenKey('google', json, scope), request.signal, (signal) =>
      exchangeAssertion(readServiceAccount(json), tools, signal),
    );
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
  key: KeyObject;
  keyId: string | undefined;
  tokenUrl: string;
}

function readServiceAccount(json: string): ServiceAccount {
  const account = parsedObject(json);
  const { client_email: email, private_key: pem, private_key_id: keyId } = account ?? {};
  if (typeof email !== 'string' || typeof pem !== 'string')
    throw settingInvalid(jsonSetting, 'must be the JSON of a service account’s key');
  const uri = account?.token_uri;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw unusableKey(cause);
  }
  return {
    email,
    key,
    keyId: typeof keyId === 'string' ? keyId : undefined,
    tokenUrl: typeof uri === 'string' ? uri : tokenUrl,
  };
}

function unusableKey(cause: unknown): GatewayError {
  return new GatewayError('provider.setting_invalid', {
    field: `x-service-${jsonSetting}`,
    message: `The private_key of the setting ${jsonSetting} cannot be used.`,
    // Errors of the library may show the beginning of what they could not read.
    detail: { reason: cause instanceof Error ? cause.name : 'unknown' },
  });
}

/** Trades a statement signed with the account's key for an access token. */
async function exchangeAssertion(
  account: ServiceAccount,
  { askTokenEndpoint, hostRules, nowMs }: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<string>> {
  const step = 'Google’s token endpoint';
  if (account.tokenUrl !== tokenUrl)
    checkUpstreamUrl(account.tokenUrl, hostRules, `${jsonSetting}.token_uri`);
  const atSeconds = Math.floor(nowMs() / 1000);
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({
      alg: 'RS256',
      typ: 'JWT',
      ...(account.keyId === undefined ? {} : { kid: account.keyId }),
    })
    .setIssuer(account.email)
    .setSubject(account.email)
    .setAudience(account.tokenUrl)
    .setIssuedAt(atSeconds)
    .setExpirationTime(atSeconds + 3600)
    .sign(account.key)
    .catch((cause: unknown) => Promise.reject(unusableKey(cause)));
  const body = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await askTokenEndpoint({ step, url: account.tokenUrl, headers, body, signal });
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
