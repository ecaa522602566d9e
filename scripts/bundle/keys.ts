import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const passphraseName = 'BUNDLE_KEY_PASSPHRASE';

/**
 * A pair of one's own, ECDSA on P-256, as `sluice.key` and `sluice.pub`; the private one
 * under BUNDLE_KEY_PASSPHRASE, where that is set. @throws Error where one of them is there
 */
export function makeKeys(dir: string): { privateKey: string; publicKey: string } {
  const privateKey = join(dir, 'sluice.key');
  const publicKey = join(dir, 'sluice.pub');
  for (const path of [privateKey, publicKey])
    if (existsSync(path)) throw new Error(`${path} is there already: a key is never replaced`);
  const passphrase = process.env[passphraseName];
  const made = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  mkdirSync(dir, { recursive: true });
  const pem = made.privateKey.export({
    type: 'pkcs8',
    format: 'pem',
    ...(passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }),
  });
  writeFileSync(privateKey, pem, { mode: 0o600, flag: 'wx' });
  writeFileSync(publicKey, made.publicKey.export({ type: 'spki', format: 'pem' }), { flag: 'wx' });
  return { privateKey, publicKey };
}

/** @throws Error naming the file */
export function readPrivateKey(path: string): KeyObject {
  let key: KeyObject;
  try {
    key = createPrivateKey({
      key: readFileSync(path),
      passphrase: process.env[passphraseName],
    });
  } catch (error) {
    throw new Error(
      `${path}: ${(error as Error).message}; a passphrase stands in ${passphraseName}`,
      {
        cause: error,
      },
    );
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new Error(`${path}: is not ECDSA on P-256; npm run bundle -- --new-key DIR makes one`);
  return key;
}
