import { createPrivateKey, type KeyObject } from 'node:crypto';
import {
  type DerElement,
  derTags,
  partsOf,
  readObjectId,
  readSequence,
  readUnsigned,
} from './der.ts';
import { PrivateKeyFault } from './private-key-fault.ts';

export type KeyKind = 'rsa' | 'ec' | 'ed25519';

/** Signing with 2,048 bits takes a thread 1 ms, with 4,096 bits 30 ms at the very worst, with 16,384 more than a second. */
export const rsaBitsMin = 2_048;
export const rsaBitsMax = 4_096;
/** Far more than anybody's 65,537; each bit of it is work for who verifies, and OpenSSL does verify what it signed. */
const exponentBytesMax = 4;

const rsaId = '2a864886f70d010101';
const ecId = '2a8648ce3d0201';
const ed25519Id = '2b6570';
/** Curves by name. One that is written out as numbers may be anything. */
const curves: ReadonlySet<string> = new Set([
  '2a8648ce3d030107', // P-256
  '2b81040022', // P-384
  '2b81040023', // P-521
]);

/**
 * Opens an unencrypted key. Size and kind are read from
 * the bytes before OpenSSL is given any, and of an RSA key it is given the
 * numbers that were looked at, so that nobody can mean others.
 * @throws PrivateKeyFault
 */
export function openKey(
  { form, der, hasHeaders = false }: { form: string; der: Buffer; hasHeaders?: boolean },
  kinds: readonly KeyKind[],
): KeyObject {
  if (hasHeaders || form === 'ENCRYPTED') throw new PrivateKeyFault('is encrypted');
  const kind = kindOf(form, der);
  if (kind === undefined || !kinds.includes(kind.name))
    throw new PrivateKeyFault(`is not ${named(kinds)}`);
  try {
    return kind.name === 'rsa'
      ? openRsa(kind.key)
      : createPrivateKey({ key: der, format: 'der', type: form === 'EC' ? 'sec1' : 'pkcs8' });
  } catch (error) {
    if (error instanceof PrivateKeyFault) throw error;
    // The library's error may show what it read.
    throw new PrivateKeyFault('cannot be read');
  }
}

interface Kind {
  name: KeyKind;
  /** Of RSA: PKCS#1. */
  key: Buffer;
}

function kindOf(form: string, der: Buffer): Kind | undefined {
  const parts = readSequence(der);
  if (parts === undefined) throw new PrivateKeyFault('is not a private key as PEM');
  if (form === 'RSA') return { name: 'rsa', key: der };
  if (form === 'EC')
    return isNamedCurve(
      parts.find(({ tag }) => tag === 0xa0),
      der,
    );
  if (form !== '') return undefined;
  const [version, algorithm, key] = parts;
  // What is encrypted and not called so begins with its algorithm.
  if (version?.tag === derTags.sequence) throw new PrivateKeyFault('is encrypted');
  if (algorithm?.tag !== derTags.sequence || key?.tag !== derTags.octets) return undefined;
  const [id, parameters] = partsOf(algorithm);
  switch (readObjectId(id)) {
    case rsaId:
      return { name: 'rsa', key: key.content };
    case ecId:
      return isNamedCurve(parameters, der);
    case ed25519Id:
      return { name: 'ed25519', key: der };
    default:
      return undefined;
  }
}

/** In PKCS#8 the curve stands there as it is, in a key alone within a tag of its own. */
function isNamedCurve(parameters: DerElement | undefined, key: Buffer): Kind | undefined {
  const id =
    parameters?.tag === 0xa0
      ? parameters.content.subarray(2).toString('hex')
      : readObjectId(parameters);
  return id !== undefined && curves.has(id) ? { name: 'ec', key } : undefined;
}

/** https://www.rfc-editor.org/rfc/rfc8017#appendix-A.1.2 */
const members = ['n', 'e', 'd', 'p', 'q', 'dp', 'dq', 'qi'] as const;

function openRsa(pkcs1: Buffer): KeyObject {
  const [version, ...elements] = readSequence(pkcs1) ?? [];
  const numbers = elements.map(readUnsigned);
  const [n, e, d, p, q, dp, dq, qi] = numbers;
  if (n === undefined || e === undefined) throw new PrivateKeyFault('is not an RSA key');
  checkModulus(n);
  checkExponent(e);
  // Another version has more than two primes.
  const isComplete =
    readUnsigned(version)?.length === 0 &&
    numbers.length === members.length &&
    numbers.every((number) => number !== undefined && number.length > 0);
  if (!isComplete) throw new PrivateKeyFault('is not an RSA key of two primes');
  // Larger numbers than the key's size promises would be more work than it promises.
  const isSound =
    big(p) * big(q) === big(n) &&
    big(d) < big(n) &&
    big(dp) < big(p) &&
    big(dq) < big(q) &&
    big(qi) < big(p);
  if (!isSound) throw new PrivateKeyFault('has numbers that do not fit together');
  const jwk: Record<string, string> = { kty: 'RSA' };
  for (const [index, member] of members.entries())
    jwk[member] = (numbers[index] as Buffer).toString('base64url');
  return createPrivateKey({ key: jwk, format: 'jwk' });
}

function checkModulus(n: Buffer): void {
  const bits = n.length * 8 + 24 - Math.clz32(n[0] ?? 0);
  if (bits < rsaBitsMin || bits > rsaBitsMax || !isOdd(n))
    throw new PrivateKeyFault(`has ${bits} bits; ${rsaBitsMin} to ${rsaBitsMax} are allowed`);
}

function checkExponent(e: Buffer): void {
  if (e.length > exponentBytesMax || !isOdd(e) || (e.length === 1 && e[0] === 1))
    throw new PrivateKeyFault('has a public exponent that is not odd, or not of 3 to 2^32');
}

function isOdd(number: Buffer): boolean {
  return ((number.at(-1) ?? 0) & 1) === 1;
}

function big(number: Buffer | undefined): bigint {
  return BigInt(`0x${number?.toString('hex')}`);
}

function named(kinds: readonly KeyKind[]): string {
  const names = { rsa: 'an RSA key', ec: 'a P-256, P-384 or P-521 key', ed25519: 'an Ed25519 key' };
  return kinds.map((kind) => names[kind]).join(' or ');
}
