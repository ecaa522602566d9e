import { createPublicKey, type KeyObject } from 'node:crypto';

/**
 * Public keys of a PEM file, each of which may have signed: while one is
 * replaced there are two. ECDSA on P-256, as cosign makes them.
 * @throws Error saying what is wrong
 */
export function readPublicKeys(pem: string): readonly KeyObject[] {
  const blocks = pem.match(/-----BEGIN [A-Z ]+-----[\s\S]+?-----END [A-Z ]+-----/g) ?? [];
  if (blocks.length === 0) throw new Error('holds no PEM block');
  return blocks.map((block) => {
    if (!block.startsWith('-----BEGIN PUBLIC KEY-----'))
      throw new Error('holds something else than public keys; a private one belongs nowhere near');
    let key: KeyObject;
    try {
      key = createPublicKey(block);
    } catch (error) {
      throw new Error('holds a key that cannot be read', { cause: error });
    }
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
      throw new Error('holds a key that is not ECDSA on P-256');
    return key;
  });
}
