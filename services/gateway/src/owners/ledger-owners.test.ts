import { describe, expect, it, vi } from 'vitest';
import { LedgerOwners, type ObjectKey, OwnersUnavailable } from './ledger-owners.ts';

const noteOf = (origin: string, workspaceId = 'w') => ({
  kind: 'response' as const,
  workspaceId,
  origin,
  provider: '@p',
  account: 'a',
  model: '',
});

function owners(known: (key: string) => boolean = () => true) {
  const asks: string[][] = [];
  const outcomes: Record<string, number> = {};
  const state = { nowMs: 1_000_000, isAway: false };
  const all = new LedgerOwners({
    async ask(objects: readonly ObjectKey[]) {
      asks.push(objects.map(({ objectKey }) => objectKey));
      if (state.isAway) throw new Error('away');
      return objects
        .filter(({ objectKey }) => known(objectKey))
        .flatMap((object) => [
          { ...object, note: noteOf('https://a') },
          { ...object, note: noteOf('https://a', 'later') },
          { ...object, note: noteOf('https://b') },
        ]);
    },
    onOutcome(outcome, count) {
      outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
    },
    now: () => state.nowMs,
  });
  const find = (objectKey: string, organisationId = 'o') => all.find({ organisationId, objectKey });
  return { all, find, asks, outcomes, state };
}

describe('owners in the ledger', () => {
  it('are asked for together, each once; of an origin the first is the owner', async () => {
    const { find, asks } = owners();
    const [first] = await Promise.all([find('x'), find('y'), find('x')]);
    expect(asks).toEqual([['x', 'y']]);
    expect(first.map(({ origin, workspaceId }) => [origin, workspaceId])).toEqual([
      ['https://a', 'w'],
      ['https://b', 'w'],
    ]);
  });

  it('that nobody knows are not asked for again for a moment', async () => {
    const { find, asks, state } = owners(() => false);
    expect([await find('x'), await find('x')]).toEqual([[], []]);
    expect(asks).toHaveLength(1);
    state.nowMs += 5_001;
    await find('x');
    expect(asks).toHaveLength(2);
  });

  it('are asked for again after a moment, whatever is done to the time of day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      let isAway = true;
      const all = new LedgerOwners({
        async ask() {
          if (isAway) throw new Error('away');
          return [];
        },
        onOutcome() {},
      });
      const find = () => all.find({ organisationId: 'o', objectKey: 'x' });
      await expect(find()).rejects.toBeInstanceOf(OwnersUnavailable);
      isAway = false;
      vi.setSystemTime(Date.now() - 3_600_000);
      await expect.poll(() => find().catch(() => 'away')).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are asked for as often as they are found; who guesses meets a cap, and nobody else does', async () => {
    const { find, outcomes, state } = owners((key) => key.startsWith('known'));
    for (let at = 0; at < 1_500; at += 750)
      await Promise.all(Array.from({ length: 750 }, (_, each) => find(`known ${at + each}`)));
    const guessed = await Promise.allSettled(
      Array.from({ length: 1_100 }, (_, at) => find(`guessed ${at}`)),
    );
    expect(guessed.filter(({ status }) => status === 'rejected')).toHaveLength(100);
    await expect(find('known')).rejects.toThrow(OwnersUnavailable);
    expect(await find('known', 'another')).toHaveLength(2);
    state.nowMs += 1_000;
    expect(await find('known')).toHaveLength(2);
    expect(outcomes).toEqual({ found: 1502, unknown: 1000, refused: 101 });
  });

  it('are asked for of what a provider lists without using up what may be guessed', async () => {
    const { all, find } = owners(() => false);
    const listed = (at: number) =>
      all.find({ organisationId: 'o', objectKey: `listed ${at}` }, 'listed');
    for (let at = 0; at < 500; at += 100)
      await Promise.all(Array.from({ length: 100 }, (_, each) => listed(at + each)));
    expect(await find('guessed')).toEqual([]);
  });

  it('are refused at once for a moment after nobody answered', async () => {
    const { find, asks, state } = owners();
    state.isAway = true;
    await expect(Promise.all([find('x'), find('y')])).rejects.toThrow(OwnersUnavailable);
    await expect(find('z')).rejects.toThrow(OwnersUnavailable);
    expect(asks).toHaveLength(1);
    Object.assign(state, { isAway: false, nowMs: state.nowMs + 1_001 });
    expect(await find('z')).toHaveLength(2);
  });
});
