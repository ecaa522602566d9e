import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto';

const marker = '~';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Sub-paths in the place of addresses that a card names and that are not below
 * the registered one. Any gateway with the same secret opens them; callers can
 * neither read nor make one. The nonce is made of what is sealed, so that one
 * address has one sub-path: cards, and what is made of them, stay the same.
 */
export class SealedAddresses {
  readonly #cipherKey: Buffer;
  readonly #nonceKey: Buffer;

  /** @param secret shared by all gateways and the control plane */
  constructor(secret: string) {
    const keys = Buffer.from(hkdfSync('sha256', secret, '', 'sluice agent interface v1', 64));
    this.#cipherKey = keys.subarray(0, 32);
    this.#nonceKey = keys.subarray(32);
  }

  /** @param serverId of the agent server that it is good for, and for no other */
  seal(serverId: string, address: string): string {
    const nonce = createHmac('sha256', this.#nonceKey)
      .update(`${serverId}\n${address}`)
      .digest()
      .subarray(0, nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#cipherKey, nonce);
    cipher.setAAD(Buffer.from(serverId));
    const sealed = Buffer.concat([cipher.update(address, 'utf8'), cipher.final()]);
    return marker + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** The address; undefined when the segment is none that was made for this server. */
  open(serverId: string, segment: string): string | undefined {
    if (!segment.startsWith(marker) || !/^~[A-Za-z0-9_-]{38,4096}$/.test(segment)) return undefined;
    const bytes = Buffer.from(segment.slice(1), 'base64url');
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#cipherKey,
      bytes.subarray(0, nonceBytes),
      { authTagLength: tagBytes },
    );
    decipher.setAAD(Buffer.from(serverId));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      return `${decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8')}${decipher.final('utf8')}`;
    } catch {
      // Another key, another server's, or a caller's own: the agent's path, if anything.
      return undefined;
    }
  }
}
