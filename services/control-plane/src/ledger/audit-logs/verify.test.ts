import { describe, expect, it } from 'vitest';
import {
  canonicalEntry,
  chainStart,
  entryHash,
  type PlacedEntry,
} from '../../kernel/audit/chain.ts';
import { type ChainEntry, verifyChain } from './verify.ts';

const content: PlacedEntry = {
  organisationId: '0b9df9a0-6a53-4a5c-8a8e-0f6f2f5f9f10',
  sequence: 0n,
  timestamp: new Date('2026-01-01T00:00:00.000Z'),
  method: 'PUT',
  uri: '/v1/configs/pc-1',
  requestId: 'r',
  requestBody: '{}',
  queryParams: '{}',
  requestHeaders: '{}',
  userId: null,
  userType: 'api_key',
  apiKeyId: null,
  workspaceId: null,
  responseStatusCode: 200,
  resourceType: 'configs',
  resourceId: 'c',
  action: 'update',
  clientIp: '::1',
  detail: '{"slug":"pc-1"}',
  before: '{"name":"a"}',
  after: '{"name":"b"}',
  country: null,
};

/** A sound chain: its entries and its head. */
function chain(length: number) {
  const entries: ChainEntry[] = [];
  let previousHash: Uint8Array = chainStart;
  for (let at = 1; at <= length; at += 1) {
    const placed = { ...content, sequence: BigInt(at) };
    const hash = entryHash(previousHash, canonicalEntry(placed));
    entries.push({ ...placed, id: `id-${at}`, previousHash, hash });
    previousHash = hash;
  }
  return { entries, head: { sequence: BigInt(length), hash: previousHash } };
}

/** In pages of two, so that faults also stand at the edges of pages. */
async function* pages(entries: readonly ChainEntry[]) {
  for (let at = 0; at < entries.length; at += 2) yield entries.slice(at, at + 2);
}

const verify = ({ entries, head }: ReturnType<typeof chain>) => verifyChain(pages(entries), head);

/** The chain of five with its third entry changed. */
function changed(change: Partial<ChainEntry>) {
  const { entries, head } = chain(5);
  return { entries: entries.with(2, { ...(entries[2] as ChainEntry), ...change }), head };
}

describe('verifyChain', () => {
  it('finds no fault in a sound chain, nor in one that has not begun', async () => {
    expect(await verify(chain(5))).toEqual({ entries: 5, firstSequence: 1n, lastSequence: 5n });
    expect(await verify(chain(0))).toEqual({
      entries: 0,
      firstSequence: null,
      lastSequence: null,
    });
  });

  it.each(Object.keys(content).filter((field) => field !== 'sequence') as (keyof PlacedEntry)[])(
    'names the entry whose %s was altered',
    async (field) => {
      const value = content[field];
      const other =
        value instanceof Date
          ? new Date(value.getTime() + 1)
          : typeof value === 'number'
            ? value + 1
            : `${value ?? ''}x`;
      const { fault, entries } = await verify(changed({ [field]: other }));
      expect(fault).toMatchObject({ sequence: 3n, id: 'id-3', reason: 'altered' });
      expect(entries).toBe(2);
    },
  );

  it.each(['before', 'after', 'detail'] as const)(
    'names the entry whose %s was removed',
    async (field) => {
      const { fault } = await verify(changed({ [field]: null }));
      expect(fault).toMatchObject({ sequence: 3n, id: 'id-3', reason: 'altered' });
    },
  );

  it('does not take a value moved to another field for the same content', async () => {
    const { before, after } = content;
    const { fault } = await verify(changed({ before: after, after: before }));
    expect(fault).toMatchObject({ sequence: 3n, reason: 'altered' });
  });

  it('names the first entry of two that were swapped', async () => {
    const { entries, head } = chain(5);
    const [second, third] = entries.slice(1, 3) as [ChainEntry, ChainEntry];
    const swapped = entries
      .with(1, { ...third, sequence: 2n })
      .with(2, { ...second, sequence: 3n });
    const { fault } = await verifyChain(pages(swapped), head);
    expect(fault).toMatchObject({ sequence: 2n, id: 'id-3', reason: 'altered' });
  });

  it('names the sequence that is missing, in the middle, at the start and at the end', async () => {
    const { entries, head } = chain(5);
    for (const missing of [1n, 3n, 5n]) {
      const left = entries.filter((entry) => entry.sequence !== missing);
      const { fault } = await verifyChain(pages(left), head);
      expect(fault).toMatchObject({ sequence: missing, reason: 'missing' });
      expect(fault).not.toHaveProperty('id');
    }
    expect((await verifyChain(pages([]), head)).fault).toMatchObject({ sequence: 1n });
  });

  it('names the entry behind one that was written anew with a hash of its own', async () => {
    const forged = changed({ action: 'delete' });
    const entry = forged.entries[2] as ChainEntry;
    entry.hash = entryHash(entry.previousHash, canonicalEntry(entry));
    const { fault } = await verify(forged);
    expect(fault).toMatchObject({ sequence: 4n, id: 'id-4', reason: 'unlinked' });
  });

  it('says when the head does not fit the last entry', async () => {
    const { entries, head } = chain(5);
    const other = { ...head, hash: Buffer.alloc(32, 1) };
    expect((await verifyChain(pages(entries), other)).fault).toMatchObject({
      sequence: 5n,
      reason: 'head',
    });
    const behind = { sequence: 4n, hash: head.hash };
    expect((await verifyChain(pages(entries), behind)).fault).toMatchObject({ reason: 'head' });
  });
});
