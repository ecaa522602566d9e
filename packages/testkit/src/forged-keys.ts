import { randomBytes } from 'node:crypto';

// Private keys as nobody honest makes them: in their form right, in their size or their making hostile.

/** An RSA key of so many bits in PKCS#8. Its numbers fit together as far as OpenSSL looks; no prime is searched. */
export function forgedRsaKey(bits: number, { crt = true, exponent = 65_537n } = {}): string {
  const p = randomOdd(bits / 2);
  const q = randomOdd(bits / 2);
  const modulus = p * q;
  const crtNumbers = crt ? [p, q, p - 2n, q - 2n, p - 2n] : [0n, 0n, 0n, 0n, 0n];
  const numbers = [0n, modulus, exponent, modulus - 2n, ...crtNumbers];
  const algorithm = sequence(objectId('2a864886f70d010101'), element(0x05, Buffer.alloc(0)));
  return pem(
    'PRIVATE KEY',
    sequence(integer(0n), algorithm, octets(sequence(...numbers.map(integer)))),
  );
}

/** A PKCS#8 that is encrypted under a password which must be hashed so many times before anything is known of it. */
export function encryptedKey(iterations: number): string {
  const derivation = sequence(
    objectId('2a864886f70d01050c'),
    sequence(
      octets(randomBytes(16)),
      integer(BigInt(iterations)),
      sequence(objectId('2a864886f70d020b'), element(0x05, Buffer.alloc(0))),
    ),
  );
  const cipher = sequence(objectId('60864801650304012a'), octets(randomBytes(16)));
  const algorithm = sequence(objectId('2a864886f70d01050d'), sequence(derivation, cipher));
  return pem('ENCRYPTED PRIVATE KEY', sequence(algorithm, octets(randomBytes(1_216))));
}

function randomOdd(bits: number): bigint {
  const number = BigInt(`0x${randomBytes(bits / 8).toString('hex')}`);
  return number | (3n << BigInt(bits - 2)) | 1n;
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

function octets(content: Buffer): Buffer {
  return element(0x04, content);
}

function objectId(hex: string): Buffer {
  return element(0x06, Buffer.from(hex, 'hex'));
}

function integer(value: bigint): Buffer {
  const hex = value.toString(16);
  const even = hex.length % 2 === 0 ? hex : `0${hex}`;
  return element(0x02, Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex'));
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const long = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  const head = [tag, ...(length < 0x80 ? [length] : long)];
  return Buffer.concat([Buffer.from(head), content]);
}
