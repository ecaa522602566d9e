import { hash } from 'node:crypto';
import { type Sealer, sealedBodyLengthMax } from '@sluice/mcp';
import type { MintedSecret, SessionKind } from '../exchange/asked-session.ts';

/** What another gateway needs to hear a call as its own did: who placed it, with what said, and when. */
export interface NotedCall {
  readonly callId: string;
  readonly by: MintedSecret['by'];
  /** Ours, of the request that placed it, with its trace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where that came from. */
  readonly address: string;
  /** As that named it. */
  readonly model: string;
  readonly of: SessionKind;
  /** Of what its caller says; absent = nobody writes that down. */
  readonly transcriptionModel?: string | undefined;
  /** Unix ms. */
  readonly startedAtMs: number;
}

const kind = 'realtime call';

/** @throws RangeError where its headers are too long to be kept */
export function sealNote(sealer: Sealer, note: NotedCall): string {
  return sealer.seal(kind, { ...note, headers: { ...note.headers } }, sealedBodyLengthMax);
}

/** Undefined = it is of an installation with another pepper. */
export function openNote(sealer: Sealer, sealed: string): NotedCall | undefined {
  return sealer.open(kind, sealed) as NotedCall | undefined;
}

/** By which gateways know a call: an id is of whoever answers at one origin, for one organisation. */
export function nameOfCall(organisationId: string, origin: string, callId: string): string {
  return hash('sha256', `${organisationId}\n${origin}\n${callId}`, 'base64url');
}
