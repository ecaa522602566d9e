import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;
const sumBytes = 12;
const timeBytes = 4;
/** Of agents that call agents: of more, the innermost. With more, a mark would be longer than trace states are passed on. */
const depthMax = 8;
/** As long as a task is known that nobody looks at. */
const ttlSeconds = 7 * 24 * 60 * 60;

/**
 * What a call of an agent is known by when the agent calls back in: the names of the sums that its own calls count
 * towards, those of the calls around it after it. Sealed, with the organisation, by a secret that all gateways share:
 * nobody reads, makes or changes one, or uses that of another organisation.
 */
export class CallMarks {
  readonly #key: Buffer;
  readonly #now: () => number;

  /** @param now Unix ms */
  constructor(secret: string, now: () => number = Date.now) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'sluice agent call mark v1', 32));
    this.#now = now;
  }

  /** The name of a sum that nobody has. */
  newSum(): string {
    return randomBytes(sumBytes).toString('base64url');
  }

  /** @param sums the innermost first */
  seal(organisationId: string, sums: readonly string[]): string {
    const nonce = randomBytes(nonceBytes);
    const until = Buffer.alloc(timeBytes);
    until.writeUInt32BE(Math.floor(this.#now() / 1000) + ttlSeconds);
    const names = sums.slice(0, depthMax).map((sum) => Buffer.from(sum, 'base64url'));
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    cipher.setAAD(Buffer.from(organisationId));
    const sealed = Buffer.concat([cipher.update(Buffer.concat([until, ...names])), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** None of a mark that is not ours, is another organisation's, or has ended. */
  open(organisationId: string, mark: string): readonly string[] {
    if (!/^[A-Za-z0-9_-]{40,256}$/.test(mark)) return none;
    const bytes = Buffer.from(mark, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(organisationId));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    let names: Buffer;
    try {
      names = Buffer.concat([
        decipher.update(bytes.subarray(nonceBytes + tagBytes)),
        decipher.final(),
      ]);
    } catch {
      // Whoever wrote it: it stands for nothing.
      return none;
    }
    if (names.readUInt32BE(0) * 1000 < this.#now()) return none;
    const sums: string[] = [];
    for (let at = timeBytes; at < names.length; at += sumBytes)
      sums.push(names.toString('base64url', at, at + sumBytes));
    return sums;
  }
}

const none: readonly string[] = Object.freeze([]);
