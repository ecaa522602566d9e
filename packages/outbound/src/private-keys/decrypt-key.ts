import { createDecipheriv, createPrivateKey, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
import {
  type DerElement,
  derTags,
  partsOf,
  readObjectId,
  readSequence,
  readUnsigned,
} from './der.ts';
import type { PemKey } from './pem.ts';
import { PrivateKeyFault } from './private-key-fault.ts';

/** What hashing a password so often takes a thread is 60 ms at most. */
export const roundsMax = 100_000;

const pbes2 = '2a864886f70d01050d';
const pbkdf2Id = '2a864886f70d01050c';
/** Without one, SHA-1. */
const digests: Readonly<Record<string, string>> = {
  '2a864886f70d0207': 'sha1',
  '2a864886f70d0208': 'sha224',
  '2a864886f70d0209': 'sha256',
  '2a864886f70d020a': 'sha384',
  '2a864886f70d020b': 'sha512',
};
const ciphers: Readonly<Record<string, readonly [name: string, keyBytes: number]>> = {
  '608648016503040102': ['aes-128-cbc', 16],
  '608648016503040116': ['aes-192-cbc', 24],
  '60864801650304012a': ['aes-256-cbc', 32],
  '2a864886f70d0307': ['des-ede3-cbc', 24],
};
const derive = promisify(pbkdf2);

/**
 * The key within an encrypted one: the password is hashed on another thread,
 * and only as often as is bounded here, whatever the key says.
 * @returns its form and bytes, not looked at yet
 * @throws PrivateKeyFault
 */
export async function decryptKey(
  key: PemKey,
  passphrase: string,
): Promise<{ form: string; der: Buffer }> {
  if (key.hasHeaders) return { form: 'RSA', der: decryptOldForm(key.text, passphrase) };
  const { derivation, cipher, data } = readEncrypted(key.der);
  const secret = await derive(
    passphrase,
    derivation.salt,
    derivation.rounds,
    cipher.keyBytes,
    derivation.digest,
  );
  let opened: Buffer;
  try {
    const decipher = createDecipheriv(cipher.name, secret, cipher.iv);
    opened = Buffer.concat([decipher.update(data), decipher.final()]);
  } catch {
    throw wrongPassphrase();
  }
  // Of 256 wrong passphrases one ends in bytes that pass for padding.
  if (readSequence(opened) === undefined) throw wrongPassphrase();
  return { form: '', der: opened };
}

/** Encrypted as keys were before PKCS#8. Its one round of MD5 is weak, and so no work. */
function decryptOldForm(text: string, passphrase: string): Buffer {
  try {
    const key = createPrivateKey({ key: text, passphrase });
    return key.export({ type: 'pkcs1', format: 'der' }) as Buffer;
  } catch {
    throw wrongPassphrase();
  }
}

/** https://www.rfc-editor.org/rfc/rfc8018#appendix-A */
function readEncrypted(der: Buffer) {
  const [algorithm, data] = readSequence(der) ?? [];
  const [scheme, parameters] = partsOf(algorithm);
  const [derivation, cipher] = partsOf(parameters);
  const [derivationId, derivationParameters] = partsOf(derivation);
  const [cipherId, iv] = partsOf(cipher);
  const known = ciphers[readObjectId(cipherId) ?? ''];
  if (
    readObjectId(scheme) !== pbes2 ||
    readObjectId(derivationId) !== pbkdf2Id ||
    known === undefined ||
    iv?.tag !== derTags.octets ||
    data?.tag !== derTags.octets
  )
    throw new PrivateKeyFault(
      'is encrypted in a way that is not known here (PBES2 with PBKDF2 is)',
    );
  const [name, keyBytes] = known;
  return {
    derivation: readDerivation(partsOf(derivationParameters)),
    cipher: { name, keyBytes, iv: iv.content },
    data: data.content,
  };
}

function readDerivation([salt, count, ...rest]: readonly DerElement[]) {
  const rounds = Number.parseInt(readUnsigned(count)?.toString('hex') ?? '', 16);
  if (salt?.tag !== derTags.octets || !(rounds >= 1 && rounds <= roundsMax))
    throw new PrivateKeyFault(`is encrypted with more than ${roundsMax} rounds of PBKDF2`);
  const prf = rest.find(({ tag }) => tag === derTags.sequence);
  const digest = prf === undefined ? 'sha1' : digests[readObjectId(partsOf(prf)[0]) ?? ''];
  if (digest === undefined)
    throw new PrivateKeyFault(
      'is encrypted in a way that is not known here (PBES2 with PBKDF2 is)',
    );
  return { salt: salt.content, rounds, digest };
}

function wrongPassphrase(): PrivateKeyFault {
  return new PrivateKeyFault('cannot be decrypted with its passphrase');
}
