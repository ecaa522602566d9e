import { randomBytes } from 'node:crypto';
import type { Sealer } from '@sluice/mcp';

/**
 * A session of a client of the older era, as its id holds it: whoever has the
 * key of the gateways serves it, and an idle one costs nobody anything.
 */
export interface Session {
  /** Its own name, among all. */
  readonly name: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly serverId: string;
  readonly principal: string;
  /** Of the protocol, as it was agreed upon. */
  readonly revision: string;
  /** The upstream's id of it; empty = it gave none. */
  readonly upstreamId: string;
  /** What the client said of itself, to begin the upstream's session again with: JSON. */
  readonly client: string;
  /** Unix s. */
  readonly expiresAt: number;
  /** The life of the gateway that began it. */
  readonly begunBy: string;
}

/** A client works with one for a day at most; then it is told to begin again. */
export const sessionSeconds = 24 * 3600;
const kind = 'session';

/** In the order in which they are sealed: names would be as long as what they name. */
type Sealed = [string, string, string, string, string, string, string, string, number, string];

export function newSessionName(): string {
  return randomBytes(12).toString('base64url');
}

/** @returns the id; undefined when it would be longer than an id may be */
export function sealSession(sealer: Sealer, session: Session): string | undefined {
  const sealed: Sealed = [
    session.name,
    session.organisationId,
    session.workspaceId,
    session.serverId,
    session.principal,
    session.revision,
    session.upstreamId,
    session.client,
    session.expiresAt,
    session.begunBy,
  ];
  try {
    return sealer.seal(kind, sealed);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Undefined = it is none of ours. Whether it is over is another question. */
export function openSession(sealer: Sealer, id: string): Session | undefined {
  const sealed = sealer.open(kind, id) as Sealed | undefined;
  if (sealed === undefined) return undefined;
  return {
    name: sealed[0],
    organisationId: sealed[1],
    workspaceId: sealed[2],
    serverId: sealed[3],
    principal: sealed[4],
    revision: sealed[5],
    upstreamId: sealed[6],
    client: sealed[7],
    expiresAt: sealed[8],
    begunBy: sealed[9],
  };
}

export function isCurrent({ expiresAt }: Session, nowMs: number): boolean {
  return expiresAt * 1000 > nowMs;
}
