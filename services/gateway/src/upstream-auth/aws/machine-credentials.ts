import { readFile } from 'node:fs/promises';
import type { AwsCredentials } from '@sluice/aws-signature';
import type { AuthorisationTools } from '../authorisation-tools.ts';
import { authorisationFailed } from '../failure.ts';
import { askMetadata } from '../metadata-service.ts';
import { type Issued, tokenKey } from '../token-cache.ts';
import { fromKeys, readJsonCredentials } from './credentials.ts';
import { askInstanceMetadata } from './instance-metadata.ts';
import { assumeRoleWithWebIdentity } from './sts.ts';

/**
 * Who this machine is in AWS: keys of the environment, else a web identity,
 * else a container's credentials, else the instance's. The first that is
 * configured decides; what it answers is final.
 */
export async function machineCredentials(
  region: string,
  tools: AuthorisationTools,
  signal: AbortSignal,
): Promise<AwsCredentials> {
  const { cloud, tokens } = tools;
  const fixed = fromKeys(
    cloud.AWS_ACCESS_KEY_ID,
    cloud.AWS_SECRET_ACCESS_KEY,
    cloud.AWS_SESSION_TOKEN,
  );
  if (fixed !== undefined) return fixed;
  const { AWS_ROLE_ARN: roleArn, AWS_WEB_IDENTITY_TOKEN_FILE: file } = cloud;
  if (roleArn !== undefined && file !== undefined)
    return tokens.get(tokenKey('aws-web-identity', region), signal, async (issueSignal) => {
      const token = await readTokenFile(file, 'AWS’s web identity token file');
      return assumeRoleWithWebIdentity(roleArn, token, region, tools, issueSignal);
    });
  const container = containerUrl(tools);
  if (container !== undefined)
    return tokens.get(tokenKey('aws-container'), signal, (issueSignal) =>
      askContainer(container, tools, issueSignal),
    );
  if (cloud.AWS_EC2_METADATA_DISABLED)
    throw authorisationFailed('The gateway’s machine', 'has no identity in AWS');
  return tokens.get(tokenKey('aws-instance'), signal, (issueSignal) =>
    askInstanceMetadata(tools, issueSignal),
  );
}

/** https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html */
function containerUrl({ cloud }: AuthorisationTools): string | undefined {
  if (cloud.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI !== undefined)
    return `http://169.254.170.2${cloud.AWS_CONTAINER_CREDENTIALS_RELATIVE_URI}`;
  const full = cloud.AWS_CONTAINER_CREDENTIALS_FULL_URI;
  if (full === undefined) return undefined;
  const url = URL.canParse(full) ? new URL(full) : undefined;
  const isOpen = url?.protocol === 'http:' && plainHosts.test(url.hostname);
  if (url?.protocol !== 'https:' && !isOpen)
    throw authorisationFailed(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI',
      'must be https, or an address of this machine or its container service',
    );
  return full;
}

/** Where credentials may travel in the clear, because they do not leave the machine. */
const plainHosts =
  /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/;

async function askContainer(
  url: string,
  { cloud, nowMs }: AuthorisationTools,
  signal: AbortSignal,
): Promise<Issued<AwsCredentials>> {
  const step = 'AWS’s container credentials service';
  const file = cloud.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const token =
    file === undefined
      ? cloud.AWS_CONTAINER_AUTHORIZATION_TOKEN
      : await readTokenFile(file, 'AWS’s container token file');
  const headers: Record<string, string> = token === undefined ? {} : { authorization: token };
  return readJsonCredentials(step, await askMetadata({ step, url, headers, signal }), nowMs());
}

/** Read at each use: such tokens are replaced while we run. */
async function readTokenFile(path: string, step: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw authorisationFailed(step, 'cannot be read', cause);
  });
  const token = text.trim();
  if (token === '') throw authorisationFailed(step, 'is empty');
  return token;
}
