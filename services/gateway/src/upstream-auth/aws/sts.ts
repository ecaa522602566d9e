import { type AwsCredentials, signRequest } from '@sluice/aws-signature';
import type { AuthorisationTools } from '../authorisation-tools.ts';
import { authorisationFailed, errorName } from '../failure.ts';
import type { Issued } from '../token-cache.ts';
import type { TokenReply } from '../token-endpoint.ts';
import { stsUrl } from './regions.ts';

export interface RoleRequest {
  roleArn: string;
  externalId: string | undefined;
  /** What the session is tagged with; each next list is tried where the role refuses the one before. */
  tags: readonly [SessionTags, ...SessionTags[]];
}

export type SessionTags = readonly (readonly [key: string, value: string])[];

type StsTools = Pick<AuthorisationTools, 'askTokenEndpoint' | 'cloud' | 'nowMs'>;

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
export async function assumeRole(
  { roleArn, externalId, tags }: RoleRequest,
  base: AwsCredentials,
  region: string,
  tools: StsTools,
  signal: AbortSignal,
): Promise<Issued<AwsCredentials>> {
  const step = 'AWS STS AssumeRole';
  const form = roleForm('AssumeRole', roleArn, tools);
  const [first, next, ...rest] = tags;
  if (externalId !== undefined) form.set('ExternalId', externalId);
  for (const [index, [key, value]] of first.entries()) {
    form.set(`Tags.member.${index + 1}.Key`, key);
    form.set(`Tags.member.${index + 1}.Value`, value);
  }
  const reply = await askSigned(step, form, base, region, tools, signal);
  // A trust policy may allow the role and not the tags.
  if (next !== undefined && reply.status === 403 && errorCode(reply.text) === 'AccessDenied')
    return assumeRole({ roleArn, externalId, tags: [next, ...rest] }, base, region, tools, signal);
  return readCredentials(step, reply);
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
export async function assumeRoleWithWebIdentity(
  roleArn: string,
  token: string,
  region: string,
  tools: StsTools,
  signal: AbortSignal,
): Promise<Issued<AwsCredentials>> {
  const step = 'AWS STS AssumeRoleWithWebIdentity';
  const form = roleForm('AssumeRoleWithWebIdentity', roleArn, tools);
  form.set('WebIdentityToken', token);
  const reply = await tools.askTokenEndpoint({
    step,
    url: `${stsUrl(region, tools.cloud)}/`,
    headers: formHeaders,
    body: form.toString(),
    signal,
  });
  return readCredentials(step, reply);
}

/**
 * A statement of AWS about who we are there, for others to trust.
 * https://docs.aws.amazon.com/STS/latest/APIReference/API_GetWebIdentityToken.html
 */
export async function getWebIdentityToken(
  audience: string,
  base: AwsCredentials,
  region: string,
  tools: StsTools,
  signal: AbortSignal,
): Promise<string> {
  const step = 'AWS STS GetWebIdentityToken';
  const form = new URLSearchParams({
    Action: 'GetWebIdentityToken',
    Version: '2011-06-15',
    'Audience.member.1': audience,
    SigningAlgorithm: 'RS256',
    DurationSeconds: '300',
  });
  const { status, text } = await askSigned(step, form, base, region, tools, signal);
  if (status !== 200)
    throw authorisationFailed(step, `answered ${status}${errorName(errorCode(text))}`);
  const token = element(text, 'WebIdentityToken');
  if (!token) throw authorisationFailed(step, 'answered without a token');
  return token;
}

async function askSigned(
  step: string,
  form: URLSearchParams,
  credentials: AwsCredentials,
  region: string,
  { askTokenEndpoint, cloud, nowMs }: StsTools,
  signal: AbortSignal,
): Promise<TokenReply> {
  const origin = stsUrl(region, cloud);
  const body = form.toString();
  const signed = await signRequest(
    { method: 'POST', origin, path: '/', headers: formHeaders, body: Buffer.from(body) },
    { service: 'sts', region, credentials, atMs: nowMs() },
  );
  // The connection says which host is meant.
  const { host: _, ...headers } = signed as Record<string, string>;
  return askTokenEndpoint({ step, url: `${origin}/`, headers, body, signal });
}

const formHeaders = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };

function roleForm(action: string, roleArn: string, { cloud }: StsTools): URLSearchParams {
  return new URLSearchParams({
    Action: action,
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: cloud.AWS_ROLE_SESSION_NAME,
  });
}

function readCredentials(step: string, { status, text }: TokenReply): Issued<AwsCredentials> {
  if (status !== 200)
    throw authorisationFailed(step, `answered ${status}${errorName(errorCode(text))}`);
  const accessKeyId = element(text, 'AccessKeyId');
  const secretAccessKey = element(text, 'SecretAccessKey');
  const sessionToken = element(text, 'SessionToken');
  const expiresAtMs = Date.parse(element(text, 'Expiration') ?? '');
  if (!accessKeyId || !secretAccessKey || !sessionToken || Number.isNaN(expiresAtMs))
    throw authorisationFailed(step, 'answered without credentials');
  return { value: { accessKeyId, secretAccessKey, sessionToken }, expiresAtMs };
}

function errorCode(xml: string): string | undefined {
  return element(xml, 'Code');
}

/** The text of an element. The replies read here have each name once, and no markup within. */
function element(xml: string, name: string): string | undefined {
  return new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(xml)?.[1];
}
