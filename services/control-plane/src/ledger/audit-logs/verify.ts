import type { ChainFaultReason } from '@sluice/contracts/admin';
import {
  canonicalEntry,
  chainStart,
  entryHash,
  type PlacedEntry,
} from '../../kernel/audit/chain.ts';

/** An entry as the database has it, with its two links. */
export interface ChainEntry extends PlacedEntry {
  id: string;
  previousHash: Uint8Array;
  hash: Uint8Array;
}

/** Where the organisation says that its chain ends. */
export interface ChainHead {
  sequence: bigint;
  hash: Uint8Array;
}

export interface ChainFault {
  sequence: bigint;
  /** Of the entry itself, when there is one. */
  id?: string;
  reason: ChainFaultReason;
  message: string;
}

export interface ChainVerdict {
  /** How many entries fit, from the first. */
  entries: number;
  firstSequence: bigint | null;
  lastSequence: bigint | null;
  fault?: ChainFault;
}

/**
 * Walks a chain from its first entry and names the first fault. Nothing of an
 * entry is kept once the next has come, so a chain of any length takes the
 * memory of one page.
 * @param pages entries by sequence, up to the head's
 */
export async function verifyChain(
  pages: AsyncIterable<readonly ChainEntry[]>,
  head: ChainHead,
): Promise<ChainVerdict> {
  const verdict: ChainVerdict = { entries: 0, firstSequence: null, lastSequence: null };
  let previous: Uint8Array = chainStart;
  let expected = 1n;
  for await (const page of pages)
    for (const entry of page) {
      const fault = entryFault(entry, expected, previous);
      if (fault !== undefined) return { ...verdict, fault };
      verdict.entries += 1;
      verdict.firstSequence ??= entry.sequence;
      verdict.lastSequence = entry.sequence;
      previous = entry.hash;
      expected += 1n;
    }
  const fault = headFault(head, expected, previous);
  return fault === undefined ? verdict : { ...verdict, fault };
}

function entryFault(
  entry: ChainEntry,
  expected: bigint,
  previous: Uint8Array,
): ChainFault | undefined {
  if (entry.sequence !== expected) return missing(expected);
  const named = { sequence: entry.sequence, id: entry.id };
  if (!entryHash(entry.previousHash, canonicalEntry(entry)).equals(entry.hash))
    return { ...named, reason: 'altered', message: 'Its content does not fit its hash.' };
  if (!Buffer.from(previous).equals(entry.previousHash))
    return { ...named, reason: 'unlinked', message: 'It does not follow the entry before it.' };
  return undefined;
}

function headFault(
  head: ChainHead,
  expected: bigint,
  previous: Uint8Array,
): ChainFault | undefined {
  if (head.sequence >= expected) return missing(expected);
  if (head.sequence === expected - 1n && Buffer.from(head.hash).equals(previous)) return undefined;
  return {
    sequence: expected - 1n,
    reason: 'head',
    message: 'The organisation’s record of its last entry does not fit this one.',
  };
}

function missing(sequence: bigint): ChainFault {
  return { sequence, reason: 'missing', message: 'There is no entry of this sequence.' };
}
