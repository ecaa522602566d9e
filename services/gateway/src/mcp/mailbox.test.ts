import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedStores, startSharedStores } from '../../test/shared-stores.ts';
import { Mailbox } from './mailbox.ts';

const box = { organisationId: 'o', name: 'a box' };
const letter = Buffer.from('said');
const waiting = () => AbortSignal.timeout(5000);

it('whoever comes again for a letter gets it, though who came before leaves only then', async () => {
  const mailbox = new Mailbox(undefined);
  const left = new AbortController();
  const first = mailbox.take(box, left.signal);
  const again = mailbox.take(box, waiting());
  left.abort(new Error('left'));
  await expect(first).rejects.toThrow('left');
  await mailbox.put(box, letter);
  expect(await again).toBe(letter);
});

it('all who wait for a letter get it, and it is left for nobody', async () => {
  const mailbox = new Mailbox(undefined);
  const both = [mailbox.take(box, waiting()), mailbox.take(box, waiting())];
  await mailbox.put(box, letter);
  expect(await Promise.all(both)).toEqual([letter, letter]);
  await expect(mailbox.take(box, AbortSignal.abort(new Error('nothing is left')))).rejects.toThrow(
    'nothing is left',
  );
});

describe('with Redis between two gateways', () => {
  let stores: SharedStores;
  beforeAll(async () => {
    stores = await startSharedStores();
  });
  afterAll(() => stores.stop());

  it('what was said while Redis was away reaches who waits elsewhere, once it answers again', async () => {
    const [one, other] = [new Mailbox(stores.open()), new Mailbox(stores.open())];
    const both = [one, other];
    await eventually(() => expect(both.map(({ isShared }) => isShared)).toEqual([true, true]));
    await stores.server.stop();
    await eventually(() => expect(both.map(({ isShared }) => isShared)).toEqual([false, false]));
    const waits = other.take(box, AbortSignal.timeout(30_000));
    await one.put(box, letter);
    // Whoever asks here has it at once, and nobody has it again.
    const here = { ...box, name: 'another box' };
    await one.put(here, letter);
    expect(await one.take(here, waiting())).toBe(letter);
    await stores.server.restart();
    expect(await waits).toEqual(letter);
    await expect(one.take(here, AbortSignal.timeout(500))).rejects.toThrow();
  });

  it('what nobody hears takes no more than some MiB: the oldest make room', async () => {
    const mailbox = new Mailbox(stores.open());
    await eventually(() => expect(mailbox.isShared).toBe(true));
    const told = { organisationId: 'o', name: 'a box of many' };
    for (const size of [3, 3, 3, 1, 1, 1])
      await mailbox.append(told, Buffer.from(`${size}`.repeat(size << 20)));
    const heard: string[] = [];
    await eventually(async () => {
      await mailbox.hearRest(told, (each) => heard.push(each.toString()));
      expect(heard.length).toBeGreaterThan(0);
    });
    expect(heard.map(({ length, 0: first }) => `${length >> 20} of ${first}`)).toEqual([
      '3 of 3',
      '3 of 3',
      '1 of 1',
      '1 of 1',
      '1 of 1',
    ]);
  });

  it('what cannot be left there now is no failure of who says it', async () => {
    const mailbox = new Mailbox(stores.open());
    await eventually(() => expect(mailbox.isShared).toBe(true));
    process.kill(stores.server.pid, 'SIGSTOP');
    try {
      const putting = mailbox.put(box, letter);
      // Who comes while Redis is asked has it here.
      const taken = mailbox.take(box, waiting());
      await putting;
      expect(mailbox.isShared).toBe(false);
      expect(await taken).toBe(letter);
    } finally {
      process.kill(stores.server.pid, 'SIGCONT');
    }
  });
});
