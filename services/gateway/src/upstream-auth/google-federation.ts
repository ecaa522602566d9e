import { signRequest } from '@sluice/aws-signature';
import type { AuthorisationTools } from './authorisation-tools.ts';
import { machineCredentials } from './aws/machine-credentials.ts';
import { homeRegion } from './aws/regions.ts';
import { authorisationFailed } from './failure.ts';
import type { Issued } from './token-cache.ts';
import { parsedObject, readOauthToken } from './token-endpoint.ts';

export const cloudPlatform = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * A machine in AWS with rights at Google: a signed question to AWS who it is,
 * which Google asks in its place, is traded for a token, and that one for a
 * service account's. https://cloud.google.com/iam/docs/workload-identity-federation-with-other-clouds
 */
export async function tradeAwsIdentity(
  audience: string,
  tools: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<string>> {
  const { askTokenEndpoint, cloud, nowMs } = tools;
  const step = 'Google’s token exchange';
  const reply = await askTokenEndpoint({
    step,
    url: 'https://sts.googleapis.com/v1/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience,
      scope: cloudPlatform,
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token_type: 'urn:ietf:params:aws:token-type:aws4_request',
      subject_token: await signedQuestion(audience, tools, signal),
    }).toString(),
    signal,
  });
  const federated = readOauthToken(step, reply, nowMs());
  const email = cloud.GCP_WIF_SERVICE_ACCOUNT_EMAIL;
  return email === undefined ? federated : actAs(email, federated.value, tools, signal);
}

/** A call of AWS that is not made: who has it can make it, and learns who signed it. */
async function signedQuestion(
  audience: string,
  tools: AuthorisationTools,
  signal: AbortSignal,
): Promise<string> {
  const region = homeRegion(tools.cloud);
  const origin = `https://sts.${region}.amazonaws.com`;
  const path = '/?Action=GetCallerIdentity&Version=2011-06-15';
  const headers = await signRequest(
    {
      method: 'POST',
      origin,
      path,
      headers: { 'x-goog-cloud-target-resource': audience },
      body: undefined,
    },
    {
      service: 'sts',
      region,
      credentials: await machineCredentials(region, tools, signal),
      atMs: tools.nowMs(),
    },
  );
  return encodeURIComponent(
    JSON.stringify({
      url: `${origin}${path}`,
      method: 'POST',
      headers: Object.entries(headers).map(([key, value]) => ({ key, value })),
    }),
  );
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
async function actAs(
  email: string,
  token: string,
  { askTokenEndpoint }: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<string>> {
  const step = 'Google’s service account credentials';
  const { status, text } = await askTokenEndpoint({
    step,
    url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${encodeURIComponent(email)}:generateAccessToken`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ scope: [cloudPlatform], lifetime: '3600s' }),
    signal,
  });
  if (status !== 200) throw authorisationFailed(step, `answered ${status}`);
  const { accessToken, expireTime } = parsedObject(text) ?? {};
  const expiresAtMs = Date.parse(String(expireTime));
  if (typeof accessToken !== 'string' || accessToken === '' || Number.isNaN(expiresAtMs))
    throw authorisationFailed(step, 'answered without a token');
  return { value: accessToken, expiresAtMs };
}
