import type { AwsCredentials } from '@sluice/aws-signature';
import { authorisationFailed } from '../failure.ts';
import type { Issued } from '../token-cache.ts';
import { parsedObject, type TokenReply } from '../token-endpoint.ts';

export function fromKeys(
  accessKeyId: string | undefined,
  secretAccessKey: string | undefined,
  sessionToken?: string,
): AwsCredentials | undefined {
  if (accessKeyId === undefined || secretAccessKey === undefined) return undefined;
  return {
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

/** The reply of container and instance services. */
export function readJsonCredentials(
  step: string,
  { status, text }: TokenReply,
  nowMs: number,
): Issued<AwsCredentials> {
  if (status !== 200) throw authorisationFailed(step, `answered ${status}`);
  const reply = parsedObject(text);
  const credentials = fromKeys(
    filled(reply?.AccessKeyId),
    filled(reply?.SecretAccessKey),
    filled(reply?.Token),
  );
  if (credentials === undefined) throw authorisationFailed(step, 'answered without credentials');
  const expiresAtMs = Date.parse(filled(reply?.Expiration) ?? '');
  return {
    value: credentials,
    // Credentials that do not say how long they are good are asked for again soon.
    expiresAtMs: Number.isNaN(expiresAtMs) ? nowMs + 15 * 60_000 : expiresAtMs,
  };
}

function filled(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
