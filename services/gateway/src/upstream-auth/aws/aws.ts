import { type AwsCredentials, signRequest } from '@sluice/aws-signature';
import type { AuthorisedRequest, UnauthorisedRequest } from '../../calls/call-authoriser.ts';
import type { AuthorisationTools } from '../authorisation-tools.ts';
import { collectBody } from '../collect-body.ts';
import { authorisationFailed, settingInvalid, settingMissing } from '../failure.ts';
import { lendHostIdentity } from '../host-identity.ts';
import { bareToken, withCredential, withoutCredentials } from '../own-headers.ts';
import { tokenKey } from '../token-cache.ts';
import { fromKeys } from './credentials.ts';
import { machineCredentials } from './machine-credentials.ts';
import { inPartition, regionOf } from './regions.ts';
import { tagLists } from './session-tags.ts';
import { assumeRole, type RoleRequest } from './sts.ts';

/** Services that take a bearer key in place of a signature. */
const keyServices: ReadonlySet<string> = new Set([
  'bedrock',
  'bedrock-mantle',
  'aws-external-anthropic',
]);

export async function authoriseAws(
  request: UnauthorisedRequest,
  service: string,
  tools: AuthorisationTools,
): Promise<AuthorisedRequest> {
  const region = regionOf(request.origin, request.setting, tools.cloud);
  const origin = inPartition(request.origin, region, tools.cloud);
  const mode = modeOf(request, service);
  if (mode === 'apiKey') {
    if (!keyServices.has(service))
      throw settingInvalid('aws-auth-type', `cannot be apiKey for the service ${service}`);
    const key = bareToken(request.apiKey);
    if (key === '') throw authorisationFailed('The authorisation with AWS', 'has no key');
    return withCredential({ ...request, origin }, { authorization: `Bearer ${key}` });
  }
  const credentials = await credentialsOf(request, mode, region, tools);
  // Large uploads to S3 go through as they come: it is the one service that lets a body be unsigned.
  const streams = service === 's3' && isStream(request.body) && origin.startsWith('https:');
  const body = streams
    ? undefined
    : await collectBody(request.body, tools.cloud.SIGNED_BODY_BYTES_MAX, request.signal);
  const { host: _, ...headers } = await signRequest(
    {
      method: request.method,
      origin,
      path: request.path,
      headers: withoutCredentials(request.headers),
      body: streams ? 'unsigned' : body,
    },
    { service, region, credentials, atMs: tools.nowMs() },
  );
  return { origin, headers, body: streams ? request.body : (body ?? null) };
}

function isStream(body: UnauthorisedRequest['body']): boolean {
  return typeof body === 'object' && body !== null && !(body instanceof Uint8Array);
}

const modes = ['accessKey', 'apiKey', 'assumedRole', 'serviceRole'] as const;
type Mode = (typeof modes)[number];

/** What is said counts; else what is there tells, but never that the machine's own identity is meant. */
function modeOf({ setting, apiKey }: UnauthorisedRequest, service: string): Mode {
  const said = setting('aws-auth-type');
  if (said !== undefined) {
    const mode = modes.find((name) => name === said);
    if (mode === undefined) throw settingInvalid('aws-auth-type', `must be ${modes.join(', ')}`);
    return mode;
  }
  if (setting('aws-access-key-id') !== undefined) return 'accessKey';
  if (setting('aws-role-arn') !== undefined) return 'assumedRole';
  return apiKey !== '' && keyServices.has(service) ? 'apiKey' : 'accessKey';
}

async function credentialsOf(
  request: UnauthorisedRequest,
  mode: Exclude<Mode, 'apiKey'>,
  region: string,
  tools: AuthorisationTools,
): Promise<AwsCredentials> {
  const { setting, signal } = request;
  if (mode === 'serviceRole') {
    lendHostIdentity(request, tools.cloud, ['aws-auth-type']);
    return machineCredentials(region, tools, signal);
  }
  const given = fromKeys(
    setting('aws-access-key-id'),
    setting('aws-secret-access-key'),
    setting('aws-session-token'),
  );
  if (mode === 'assumedRole') return roleCredentials(request, given, region, tools);
  if (given === undefined) {
    const isKeyThere = setting('aws-access-key-id') !== undefined;
    throw settingMissing(isKeyThere ? 'aws-secret-access-key' : 'aws-access-key-id', 'AWS');
  }
  return given;
}

/** Keys of the request take its role; without any, the gateway's do, by way of a source role where there is one. */
async function roleCredentials(
  request: UnauthorisedRequest,
  given: AwsCredentials | undefined,
  region: string,
  tools: AuthorisationTools,
): Promise<AwsCredentials> {
  const { setting, metadata, signal } = request;
  const { cloud, tokens } = tools;
  const roleArn = setting('aws-role-arn');
  if (roleArn === undefined) throw settingMissing('aws-role-arn', 'aws-auth-type assumedRole');
  if (!/^arn:[a-z0-9-]+:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/.test(roleArn))
    throw settingInvalid('aws-role-arn', 'must be the ARN of a role');
  const stsRegion = (given === undefined ? cloud.AWS_ASSUME_ROLE_REGION : undefined) ?? region;
  const role: RoleRequest = {
    roleArn,
    externalId: setting('aws-external-id'),
    tags: cloud.AWS_SESSION_TAGS ? tagLists(metadata) : [[]],
  };
  // The operator's principal is as little a caller's as the machine's own identity.
  if (given === undefined)
    lendHostIdentity(request, cloud, ['aws-auth-type', 'aws-role-arn', 'aws-external-id']);
  const key = tokenKey(
    'aws-role',
    given === undefined ? 'gateway' : JSON.stringify(given),
    stsRegion,
    role.roleArn,
    role.externalId,
    JSON.stringify(role.tags),
  );
  return tokens.get(key, signal, async (issueSignal) =>
    assumeRole(
      role,
      given ?? (await sourceCredentials(stsRegion, tools, issueSignal)),
      stsRegion,
      tools,
      issueSignal,
    ),
  );
}

function principal(cloud: AuthorisationTools['cloud']): AwsCredentials | undefined {
  return fromKeys(cloud.AWS_ASSUME_ROLE_ACCESS_KEY_ID, cloud.AWS_ASSUME_ROLE_SECRET_ACCESS_KEY);
}

async function sourceCredentials(
  region: string,
  tools: AuthorisationTools,
  signal: AbortSignal,
): Promise<AwsCredentials> {
  const { cloud, tokens } = tools;
  const sourceArn = cloud.AWS_ASSUME_ROLE_SOURCE_ARN;
  const base = async (issueSignal: AbortSignal) =>
    principal(cloud) ?? machineCredentials(region, tools, issueSignal);
  if (sourceArn === undefined) return base(signal);
  const role: RoleRequest = {
    roleArn: sourceArn,
    externalId: cloud.AWS_ASSUME_ROLE_SOURCE_EXTERNAL_ID,
    tags: [[]],
  };
  return tokens.get(tokenKey('aws-source-role', region), signal, async (issueSignal) =>
    assumeRole(role, await base(issueSignal), region, tools, issueSignal),
  );
}
