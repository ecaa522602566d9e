import { expect, it } from 'vitest';
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
