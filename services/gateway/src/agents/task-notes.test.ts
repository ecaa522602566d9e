import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedStores, startSharedStores } from '../../test/shared-stores.ts';
import { shareAgents, TaskNotes } from './task-notes.ts';

const place = { organisationId: 'org', serverId: 'server' };
const usage = (count: number) => ({
  inputTokens: count,
  outputTokens: 2 * count,
  cachedTokens: 0,
  reasoningTokens: 0,
  model: '',
});

describe('TaskNotes of one gateway', () => {
  it('knows the last so many, and what was not used for a week is nobody’s', async () => {
    let now = 0;
    const notes = new TaskNotes(undefined, 2, () => now);
    for (const id of ['a', 'b', 'c']) notes.claim(place, 'task', id, 'me');
    const whose = (id: string, who = 'me') => notes.whose(place, 'task', id, who);
    expect(['a', 'b', 'c'].map((id) => whose(id))).toEqual(['nobodys', 'own', 'own']);
    expect(whose('b', 'you')).toBe('others');
    expect(notes.whose(place, 'context', 'b', 'me')).toBe('nobodys');
    now = 6 * 86_400_000;
    expect(whose('b')).toBe('own');
    now = 8 * 86_400_000;
    expect([whose('b'), whose('c')]).toEqual(['own', 'nobodys']);
    notes.claim(place, 'task', 'b', 'you');
    expect(whose('b')).toBe('own');
  });

  it('knows a UUID however it is written', () => {
    const notes = new TaskNotes(undefined);
    const id = '3f0c1a9e-8b7d-4c6f-9a10-2b3c4d5e6f70';
    notes.claim(place, 'context', id, 'me');
    for (const written of [
      id,
      id.toUpperCase(),
      `{${id}}`,
      `urn:uuid:${id}`,
      id.replaceAll('-', ''),
    ])
      expect(notes.whose(place, 'context', written, 'you'), written).toBe('others');
    for (const other of [`${id}0`, `x${id}`, ' '.repeat(100_000), id.slice(1)])
      expect(notes.whose(place, 'context', other, 'you')).toBe('nobodys');
  });
});

describe('TaskNotes of gateways with one Redis', () => {
  let stores: SharedStores;
  const gateway = async (now?: () => number) => {
    const store = stores.open();
    const part = shareAgents(store);
    const notes = new TaskNotes(part, undefined, now);
    await eventually(() => expect(store.isDegraded('agents')).toBe(false));
    return { notes, store, part };
  };
  beforeAll(async () => {
    stores = await startSharedStores();
  });
  afterAll(() => stores.stop());

  it('knows at each what began at another, for one alone', async () => {
    const [one, other] = [(await gateway()).notes, (await gateway()).notes];
    await one.claim(place, 'task', 't', 'me');
    expect(await other.whose(place, 'task', 't', 'me')).toBe('own');
    expect(await other.whose(place, 'task', 't', 'you')).toBe('others');
    expect(await other.whose(place, 'task', 'none', 'me')).toBe('nobodys');
    expect(await other.whose({ ...place, serverId: 'another' }, 'task', 't', 'me')).toBe('nobodys');
    // Two begin the same at once: one of them did.
    await Promise.all([
      one.claim(place, 'context', 'c', 'me'),
      other.claim(place, 'context', 'c', 'you'),
    ]);
    const fresh = (await gateway()).notes;
    const whose = await Promise.all(
      [one, other, fresh].map((notes) => notes.whose(place, 'context', 'c', 'me')),
    );
    expect(new Set(whose).size).toBe(1);
  });

  it('forgets nowhere what one of them goes on using', async () => {
    let daysLater = 0;
    const now = () => Date.now() + daysLater * 86_400_000;
    const { notes: mine, part } = await gateway(now);
    await mine.claim(place, 'context', 'long', 'me');
    await mine.claim(place, 'context', 'longer', 'me');
    // As if Redis had let go of it in the days that only this gateway was asked.
    await part?.call('', (redis) => redis.call('FLUSHALL'));
    daysLater = 6;
    expect(mine.whose(place, 'context', 'long', 'me')).toBe('own');
    expect(mine.claim(place, 'context', 'longer', 'me')).toBeUndefined();
    for (const id of ['long', 'longer'])
      await eventually(async () =>
        expect(await (await gateway()).notes.whose(place, 'context', id, 'you')).toBe('others'),
      );
  });

  it('bills the increase once, at whichever of them it is told', async () => {
    const [one, other] = [(await gateway()).notes, (await gateway()).notes];
    await one.claim(place, 'task', 'u', 'me');
    const told = [];
    for (const [notes, count] of [
      [one, 5],
      [other, 5],
      [other, 9],
      [one, 9],
      [one, 7],
      [other, 10],
    ] as const)
      told.push((await notes.increase(place, 'u', usage(count))).outputTokens);
    expect(told).toEqual([10, 0, 8, 0, 0, 2]);
    const both = await Promise.all(
      [one, other].map((notes) => notes.increase(place, 'u', usage(60))),
    );
    expect(both.map(({ inputTokens }) => inputTokens).sort()).toEqual([0, 50]);
  });

  it('says that it cannot know while Redis is away, and goes on with what it saw', async () => {
    const { notes, store } = await gateway();
    await notes.claim(place, 'task', 'seen', 'me');
    await stores.server.stop();
    await eventually(() => expect(store.isDegraded('agents')).toBe(true));
    expect(await notes.whose(place, 'task', 'seen', 'me')).toBe('own');
    await expect(notes.whose(place, 'task', 'unseen', 'me')).rejects.toMatchObject({
      code: 'agent.tasks_unavailable',
    });
    await notes.claim(place, 'task', 'new', 'me');
    expect(await notes.whose(place, 'task', 'new', 'me')).toBe('own');
    expect((await notes.increase(place, 'new', usage(3))).inputTokens).toBe(3);
    expect((await notes.increase(place, 'new', usage(3))).inputTokens).toBe(0);
    // What was billed meanwhile is not billed again by a Redis that has not heard of it.
    await stores.server.restart();
    await eventually(() => expect(store.isDegraded('agents')).toBe(false));
    expect((await notes.increase(place, 'new', usage(3))).inputTokens).toBe(0);
    expect((await notes.increase(place, 'new', usage(5))).inputTokens).toBe(2);
  });
});
