import type { Sealer } from '@sluice/mcp';
import type { MintedSecret } from '../exchange/asked-session.ts';

/** Clients know secrets for browsers by how they begin; those of a vendor have nothing more in common. */
const prefix = 'ek_sluice_';
const kind = 'realtime secret';
/** A header has room for it, and so has a sub-protocol. */
const lengthMax = 12 * 1024;

export function isMintedSecret(secret: string): boolean {
  return secret.startsWith(prefix);
}

/** @throws RangeError where the session is too large to travel in a header */
export function sealSecret(sealer: Sealer, secret: MintedSecret): string {
  const { by, headers, kind: of, model, upstreamModel, session, untilMs } = secret;
  const payload = { by, headers, of, model, upstreamModel, session, untilMs };
  return `${prefix}${sealer.seal(kind, payload, lengthMax)}`;
}

/** Undefined = it is none of ours, or has ended. */
export function openSecret(sealer: Sealer, text: string, nowMs: number): MintedSecret | undefined {
  if (!isMintedSecret(text) || text.length > lengthMax + prefix.length) return undefined;
  const payload = sealer.open(kind, text.slice(prefix.length)) as Payload | undefined;
  if (payload === undefined || payload.untilMs <= nowMs) return undefined;
  const { of, ...rest } = payload;
  return { ...rest, kind: of };
}

type Payload = Omit<MintedSecret, 'kind'> & { readonly of: MintedSecret['kind'] };
