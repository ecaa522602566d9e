import { createHash, createHmac, randomBytes } from 'node:crypto';

const randomLength = 43;
const checksumLength = 6;

/** A new secret: prefix, 256 random bits in base64url, and a checksum over both. */
export function createServiceKey(prefix: string): string {
  const body = `${prefix}${randomBytes(32).toString('base64url')}`;
  return `${body}${checksum(body)}`;
}

/**
 * Whether the text can be one of our keys at all. Typing errors and foreign
 * secrets fail here, so that they never cost a look-up.
 */
export function isWellFormedServiceKey(key: string): boolean {
  if (key.length < randomLength + checksumLength || key.length > 256) return false;
  const body = key.slice(0, -checksumLength);
  return key.slice(-checksumLength) === checksum(body);
}

/** What is stored and looked up instead of the key: HMAC-SHA-256 under the pepper, 32 bytes. */
export function hashServiceKey(key: string, pepper: Buffer): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/** First two characters, seven asterisks, last two: the only form ever shown again. */
export function maskServiceKey(key: string): string {
  return `${key.slice(0, 2)}*******${key.slice(-2)}`;
}

function checksum(body: string): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, checksumLength);
}

/** Tells which pepper a hash is of, and nothing of the pepper itself: 16 hexadecimal digits. */
export function pepperName(pepper: Buffer): string {
  return createHmac('sha256', pepper).update('sluice pepper name').digest('hex').slice(0, 16);
}
