import { createPublicKey, type KeyObject } from 'node:crypto';
import { type JsonRecord, jsonObject } from './token.ts';

/** A public key of an issuer. */
export interface VerificationKey {
  readonly kid: string;
  /** Undefined = the issuer does not say. */
  readonly algorithm: string | undefined;
  readonly key: KeyObject;
}

/** A JWKS as far as it can be used; `faults` says what cannot, key by key. */
export interface KeySet {
  readonly keys: readonly VerificationKey[];
  readonly faults: readonly KeyFault[];
}

export interface KeyFault {
  readonly index: number;
  readonly reason: string;
}

const keysMax = 200;
const rsaBitsMin = 2_048;
/** To verify with 8,192 bits takes a thread 0.3 ms. */
const rsaBitsMax = 8_192;
/** Of the exponent, which is 65,537 nearly always: each bit of it is work. */
const exponentBytesMax = 4;
const curves = new Set(['P-256', 'P-384', 'P-521', 'Ed25519']);
/** Members of a JWK that only its owner may know. */
const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** Reads a JWKS document, text or parsed. Undefined when it is none. */
export function readKeySet(document: string | JsonRecord): KeySet | undefined {
  const parsed = typeof document === 'string' ? jsonObject(document) : document;
  if (!Array.isArray(parsed?.keys)) return undefined;
  const keys: VerificationKey[] = [];
  const faults: KeyFault[] = [];
  for (const [index, jwk] of (parsed.keys as JsonRecord[]).slice(0, keysMax).entries()) {
    const read = readKey(jwk);
    if (typeof read === 'string') faults.push({ index, reason: read });
    else keys.push(read);
  }
  return { keys, faults };
}

/** The key that a token's header asks for. */
export function findKey(set: KeySet, kid: string, algorithm: string): VerificationKey | undefined {
  return set.keys.find((key) => key.kid === kid && serves(key, algorithm));
}

function serves(key: VerificationKey, algorithm: string): boolean {
  return (
    (key.algorithm === undefined || key.algorithm === algorithm) &&
    keyTypeOf(algorithm) === key.key.asymmetricKeyType
  );
}

/** Keys of a set, all of them sound, with which none of the algorithms can be verified. */
export function idleKeys({ keys }: KeySet, algorithms: readonly string[]): readonly KeyFault[] {
  return keys.flatMap((key, index) =>
    algorithms.some((algorithm) => serves(key, algorithm))
      ? []
      : [
          {
            index,
            reason: `serves none of the algorithms that are taken, ${algorithms.join(', ')}`,
          },
        ],
  );
}

function readKey(jwk: JsonRecord): VerificationKey | string {
  if (typeof jwk !== 'object' || jwk === null) return 'is no key';
  if (typeof jwk.kid !== 'string' || jwk.kid === '') return 'has no kid';
  // A secret in a document that everybody may read protects nothing.
  if (jwk.kty === 'oct') return 'is a symmetric key';
  if (privateMembers.some((member) => jwk[member] !== undefined)) return 'is a private key';
  if (jwk.use !== undefined && jwk.use !== 'sig') return 'is not for signatures';
  const fault = jwk.kty === 'RSA' ? rsaFault(jwk) : curveFault(jwk);
  if (fault !== undefined) return fault;
  const key = importKey(jwk);
  if (key === undefined) return 'cannot be read';
  const algorithm = typeof jwk.alg === 'string' ? jwk.alg : undefined;
  return { kid: jwk.kid, algorithm, key };
}

/** Looked at before anything is made of it: a document may name numbers of any size. */
function rsaFault({ n, e }: JsonRecord): string | undefined {
  if (typeof n !== 'string' || typeof e !== 'string') return 'cannot be read';
  const bits = bitsOf(Buffer.from(n, 'base64url'));
  if (bits < rsaBitsMin || bits > rsaBitsMax)
    return `has ${bits} bits; ${rsaBitsMin} to ${rsaBitsMax} are allowed`;
  const exponent = Buffer.from(e, 'base64url');
  const isOdd = ((exponent.at(-1) ?? 0) & 1) === 1;
  if (!isOdd || bitsOf(exponent) > 8 * exponentBytesMax || bitsOf(exponent) < 2)
    return 'has an exponent that is not odd, or not of 3 to 2^32';
  return undefined;
}

function curveFault({ crv }: JsonRecord): string | undefined {
  return typeof crv === 'string' && curves.has(crv) ? undefined : 'is of a kind that is not known';
}

function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0);
  if (first < 0) return 0;
  return (number.length - first) * 8 + 24 - Math.clz32(number[first] as number);
}

function importKey(jwk: JsonRecord): KeyObject | undefined {
  try {
    return createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function keyTypeOf(algorithm: string): string {
  if (algorithm.startsWith('ES')) return 'ec';
  return algorithm === 'EdDSA' ? 'ed25519' : 'rsa';
}
