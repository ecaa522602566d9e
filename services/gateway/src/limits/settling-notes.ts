import type { HolderKind } from '@sluice/engine';
import type { SettlingNote } from '../exchange/reservation.ts';

/**
 * What requests hold is ended by who took it; should a gateway end before it has
 * done so, its next life does, by what was noted with the records of their calls:
 * so counters come to what the ledger says, also where a record was written and
 * its settling was not sent any more.
 */
export interface SettlingNotes {
  /** Those of former lives, whether or not they were settled by these. */
  recalled(): readonly (readonly [key: string, text: string])[];
  /** Notes something apart from any record. */
  keep(note: SettlingNote): void;
  /** It is settled, where others see it. */
  forget(key: string): void;
}

/** How one hold is to be ended. */
export type SettlingEnd = readonly [
  name: string,
  member: string,
  actual: number,
  /** Of budgets, which the control plane is told of. */
  told?: readonly [
    limitId: string,
    kind: HolderKind,
    workspaceId: string,
    group: string,
    isOverflow: boolean,
    epoch: string,
  ],
];

export function settlingNote(
  key: string,
  scope: string,
  ends: readonly SettlingEnd[],
): SettlingNote {
  return { key, text: JSON.stringify([scope, ends]) };
}

export function readSettlingNote(text: string): [scope: string, ends: SettlingEnd[]] {
  return JSON.parse(text) as [string, SettlingEnd[]];
}
