import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '@sluice/errors';

/**
 * Addresses at which whoever has them reads the file of an export, for a while:
 * they say until when, and are signed, so that nobody makes one up or makes one last.
 */
export class ExportLinks {
  /** The first signs. */
  readonly #keys: readonly Buffer[];
  readonly #lifeMs: number;

  constructor(masterKeys: readonly Buffer[], lifeMs: number) {
    this.#keys = masterKeys.map((key) =>
      Buffer.from(hkdfSync('sha256', key, '', 'links to log exports', 32)),
    );
    this.#lifeMs = lifeMs;
  }

  /** @param base where callers reach us, without a slash at the end */
  linkTo(id: string, base: string, now: Date): string {
    const expires = String(Math.floor((now.getTime() + this.#lifeMs) / 1000));
    const query = new URLSearchParams({
      expires,
      signature: sign(this.#keys[0] as Buffer, id, expires),
    });
    return `${base}/v1/logs/exports/${id}/file?${query}`;
  }

  /** @throws 404 for what we did not sign, 410 for what has expired */
  check(id: string, { expires, signature }: Readonly<Record<string, unknown>>, now: Date): void {
    if (
      typeof expires !== 'string' ||
      typeof signature !== 'string' ||
      !this.#isOurs(id, expires, signature)
    )
      throw new GatewayError('admin.not_found');
    if (Number(expires) * 1000 < now.getTime()) throw new GatewayError('admin.link_expired');
  }

  #isOurs(id: string, expires: string, signature: string): boolean {
    const given = Buffer.from(signature);
    return this.#keys.some((key) => {
      const right = Buffer.from(sign(key, id, expires));
      return given.length === right.length && timingSafeEqual(given, right);
    });
  }
}

function sign(key: Buffer, id: string, expires: string): string {
  return createHmac('sha256', key).update(`${id}\n${expires}`).digest('base64url');
}
