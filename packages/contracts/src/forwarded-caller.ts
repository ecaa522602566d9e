import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Arrival } from './arrival.ts';

/**
 * How a gateway tells the control plane on whose behalf it asks: a statement
 * signed with the token that only the services share. An address or a name of a
 * machine proves nothing, since callers may have a gateway call hosts for them.
 */
export const forwardedCallerHeader = 'x-sluice-forwarded-caller';

export interface ForwardedCaller extends Arrival {
  /** The gateway's id of the request, under which the control plane keeps it. */
  readonly requestId: string;
}

/** Clocks of two machines differ; a statement says nothing secret, and nobody but the two sees it. */
const ageMsMax = 5 * 60_000;
const lengthMax = 2048;

export interface ForwardedCallerSeal {
  sign(caller: ForwardedCaller, nowMs: number): string;
  /** Undefined unless it was signed with the same token, in the last five minutes. */
  read(value: string | string[] | undefined, nowMs: number): ForwardedCaller | undefined;
}

export function forwardedCallerSeal(
  serviceToken: string,
  /** With which others may have signed, while it is rotated. */
  tokensAlso: readonly string[] = [],
): ForwardedCallerSeal {
  // The token itself signs nothing else, and is not to be found out by what it signs.
  const keyOf = (token: string) =>
    createHmac('sha256', token).update('sluice forwarded caller 1').digest();
  const own = keyOf(serviceToken);
  const keys = [own, ...tokensAlso.map(keyOf)];
  const macOf = (text: string, key: Buffer) => createHmac('sha256', key).update(text).digest();
  return {
    sign({ address, host, proto, requestId }, nowMs) {
      const statement = { address, host, proto, requestId, at: nowMs };
      const text = Buffer.from(JSON.stringify(statement)).toString('base64url');
      return `${text}.${macOf(text, own).toString('base64url')}`;
    },
    read(value, nowMs) {
      if (typeof value !== 'string' || value.length > lengthMax) return undefined;
      const [text = '', mac = ''] = value.split('.', 2);
      const sent = Buffer.from(mac, 'base64url');
      const isOurs = keys.some((key) => {
        const expected = macOf(text, key);
        return sent.length === expected.length && timingSafeEqual(sent, expected);
      });
      if (!isOurs) return undefined;
      const { at, ...caller } = JSON.parse(
        Buffer.from(text, 'base64url').toString(),
      ) as ForwardedCaller & { at: number };
      return Math.abs(nowMs - at) <= ageMsMax ? caller : undefined;
    },
  };
}
