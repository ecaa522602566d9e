import { hash } from 'node:crypto';

/** Longer ones are no tokens to us. Servers read 16 KiB of headers at most. */
export const tokenLengthMax = 8_192;

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Whether a credential is written like a signed JWT: three parts, the first a JSON object in base64url. */
export function isTokenShaped(credential: string): boolean {
  // What begins with `{` in JSON begins so in base64url; service keys get no further than this line.
  if (!credential.startsWith('ey')) return false;
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(credential);
}

/** What names a token in caches and counters; the token itself is kept nowhere. */
export function tokenDigest(token: string): string {
  return hash('sha256', token, 'hex');
}

/** Header and payload as they stand there: nothing about them is checked. */
export function peekToken(token: string): { header: JsonRecord; payload: JsonRecord } | undefined {
  if (token.length > tokenLengthMax) return undefined;
  const [head, body] = token.split('.');
  const header = jsonObject(Buffer.from(head ?? '', 'base64url').toString());
  const payload = jsonObject(Buffer.from(body ?? '', 'base64url').toString());
  return header === undefined || payload === undefined ? undefined : { header, payload };
}

/** Enough to tell two tokens apart in a log, and of no use to anybody. */
export function maskToken(token: string): string {
  return `${token.slice(0, 2)}*******${token.slice(-2)}`;
}

export function jsonObject(text: string): JsonRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonRecord)
      : undefined;
  } catch {
    return undefined;
  }
}
