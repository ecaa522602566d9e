import type { JsonObject } from '@sluice/contracts';
import type { MemberEdits } from '../contract.ts';

/** What a native request has to lose so that its model takes it. */
export interface FittedRequest {
  edits: MemberEdits;
  /** What was left out or changed, by its path in the caller's body. */
  dropped: readonly string[];
}

/** Undefined where there is nothing to change. */
export function fittedBy(
  edits: MemberEdits,
  dropped: readonly string[],
): FittedRequest | undefined {
  return Object.keys(edits).length === 0 ? undefined : { edits, dropped };
}

export function withEdits(body: JsonObject, edits: MemberEdits): JsonObject {
  const edited: JsonObject = {};
  for (const key in { ...body, ...edits }) {
    const value = Object.hasOwn(edits, key) ? edits[key] : body[key];
    if (value !== undefined) edited[key] = value;
  }
  return edited;
}
