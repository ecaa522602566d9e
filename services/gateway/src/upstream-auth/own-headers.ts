import type { AuthorisedRequest, UnauthorisedRequest } from '../calls/call-authoriser.ts';

/** Headers that say who asks, in one cloud or another. */
const credentialNames: ReadonlySet<string> = new Set([
  'authorization',
  'api-key',
  'x-api-key',
  'x-goog-api-key',
  'x-amz-security-token',
]);

/** The request with this proof in place of any that a caller sent along. */
export function withCredential(
  { origin, headers, body }: UnauthorisedRequest,
  credential: Readonly<Record<string, string>>,
): AuthorisedRequest {
  return { origin, body, headers: { ...withoutCredentials(headers), ...credential } };
}

export function withoutCredentials(
  headers: Readonly<Record<string, string | string[]>>,
): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !credentialNames.has(name.toLowerCase())),
  );
}

/** `Bearer ` before a token is removed: it is put there by us. */
export function bareToken(value: string): string {
  return value.replace(/^bearer\s+/i, '').trim();
}
