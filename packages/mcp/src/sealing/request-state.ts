import { hash } from 'node:crypto';
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { canonicalJson } from '@sluice/json';
import { isObject } from '../envelope/read-message.ts';
import { type Sealer, sealedBodyLengthMax } from './sealer.ts';

/** Whose a state is, and what it answers. Anything else opens nothing. */
export interface StateOwner {
  /** Who asks: the same text for the same caller at every gateway. */
  readonly principal: string;
  /** Id of the MCP server that was asked. */
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** Members of `params` that the retry of a request has anew (N8), and what belongs to the connection. */
const notTheQuestion: ReadonlySet<string> = new Set(['inputResponses', 'requestState', '_meta']);

/** Seals what a modern request is to bring back with its answers (`requestState`). Callers can change neither it nor what it is for. */
export function sealState(
  sealer: Sealer,
  owner: StateOwner,
  state: JsonValue,
  expiresAtMs: number,
): string {
  const payload = { o: ownerHash(owner), e: expiresAtMs, s: state };
  return sealer.seal('state', payload, sealedBodyLengthMax);
}

/** The state; undefined where it is another's, for another request, too old, or not ours. */
export function openState(
  sealer: Sealer,
  owner: StateOwner,
  text: string,
  nowMs: number,
): JsonValue | undefined {
  const payload = sealer.open('state', text);
  if (!isObject(payload) || payload.o !== ownerHash(owner)) return undefined;
  if (typeof payload.e !== 'number' || payload.e <= nowMs) return undefined;
  return payload.s;
}

function ownerHash({ principal, server, method, params }: StateOwner): string {
  const question = Object.entries(params ?? {}).filter(([name]) => !notTheQuestion.has(name));
  const told = canonicalJson([principal, server, method, Object.fromEntries(question)]);
  return hash('sha256', told, 'base64url');
}
