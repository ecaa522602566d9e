import type { AwsCredentials } from '@sluice/aws-signature';
import type { AuthorisationTools } from '../authorisation-tools.ts';
import { authorisationFailed } from '../failure.ts';
import { askMetadata } from '../metadata-service.ts';
import type { Issued } from '../token-cache.ts';
import { readJsonCredentials } from './credentials.ts';

const step = 'AWS’s instance metadata service';
const rolePath = '/latest/meta-data/iam/security-credentials/';
/** Off AWS nobody answers; waiting long would only delay the failure. */
const timeoutMs = 2_000;

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html */
export async function askInstanceMetadata(
  { cloud, nowMs }: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<AwsCredentials>> {
  const base = (cloud.AWS_EC2_METADATA_SERVICE_ENDPOINT ?? '').replace(/\/$/, '');
  const session = await askMetadata({
    step,
    method: 'PUT',
    url: `${base}/latest/api/token`,
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '21600', 'content-length': '0' },
    signal,
    timeoutMs,
  });
  if (session.status !== 200 && !cloud.AWS_IMDS_V1)
    throw authorisationFailed(step, `answered ${session.status} when asked for a session`);
  const headers: Record<string, string> =
    session.status === 200 ? { 'x-aws-ec2-metadata-token': session.text.trim() } : {};
  const roles = await askMetadata({ step, url: `${base}${rolePath}`, headers, signal, timeoutMs });
  const role = roles.text.split('\n')[0]?.trim() ?? '';
  if (roles.status !== 200 || !/^[\w+=,.@-]{1,64}$/.test(role))
    throw authorisationFailed(step, 'knows no role of this instance');
  const url = `${base}${rolePath}${role}`;
  return readJsonCredentials(
    step,
    await askMetadata({ step, url, headers, signal, timeoutMs }),
    nowMs(),
  );
}
