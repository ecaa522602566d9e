import { hash } from 'node:crypto';
import { jsonBounds, readJsonText } from '@sluice/json';
import { invalidToken } from './faults.ts';

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
export interface TokenName {
  /**
   * Digest of header and payload as they were signed: the same for every
   * spelling of one token, since what is signed has only one. Limits are counted by it.
   */
  readonly identity: string;
  /** Digest of the signature as it is written: a verdict about one says nothing of another. */
  readonly proof: string;
}

export function nameToken(token: string): TokenName {
  const end = token.lastIndexOf('.');
  return {
    identity: hash('sha256', token.slice(0, Math.max(end, 0)), 'hex'),
    proof: hash('sha256', token.slice(end + 1), 'base64url'),
  };
}

/** A token whose parts could be read; nothing in them is verified. */
export interface ReadToken {
  readonly text: string;
  readonly header: JsonRecord;
  readonly payload: JsonRecord;
}

/**
 * The parts of a token that is written as RFC 7515 says, to the last bit: what
 * base64url leaves over is zero, so that a signature has one spelling.
 * @throws GatewayError `auth.invalid_token`
 */
export function readToken(text: string): ReadToken {
  if (text.length > tokenLengthMax) throw invalidToken('The token is too long.');
  const peeked = isTokenShaped(text) ? peekToken(text) : undefined;
  if (peeked === undefined) throw invalidToken('The token cannot be read.');
  if (!text.split('.').every(isCanonical))
    throw invalidToken('The token is not written in canonical base64url.');
  return { text, ...peeked };
}

function isCanonical(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part;
}

/** Header and payload as they stand there: nothing about them is checked. */
export function peekToken(token: string): { header: JsonRecord; payload: JsonRecord } | undefined {
  if (token.length > tokenLengthMax) return undefined;
  const [head, body] = token.split('.', 2);
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
    const value = readJsonText(text, jsonBounds.small);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonRecord)
      : undefined;
  } catch {
    // Not JSON, or more than a token or a key set has.
    return undefined;
  }
}
