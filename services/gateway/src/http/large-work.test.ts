import { expect, it } from 'vitest';
import { inTurn, LargeWork, largeBytes } from './large-work.ts';

/** Keeps the event loop for so long. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

it('work on bodies of usual size is done at once, whatever waits', () => {
  const order: string[] = [];
  const large = [1, 2].map((at) => inTurn('a', largeBytes, () => void order.push(`large ${at}`)));
  expect(inTurn('b', largeBytes - 1, () => 'small')).toBe('small');
  expect(order[0]).toBe('large 1');
  return Promise.all(large);
});

it('between two large pieces others have twice the time that the first one took', async () => {
  const work = new LargeWork();
  const began: number[] = [];
  const piece = async () => {
    await work.turn('a');
    began.push(performance.now());
    busy(20);
    work.note(20);
  };
  await Promise.all(Array.from({ length: 5 }, piece));
  for (let at = 1; at < began.length; at++)
    expect((began[at] as number) - (began[at - 1] as number)).toBeGreaterThanOrEqual(58);
});

it('owners take turns, however many pieces one of them has', async () => {
  const work = new LargeWork();
  work.note(5);
  const order: string[] = [];
  const piece = async (owner: string) => {
    await work.turn(owner);
    order.push(owner);
    work.note(1);
  };
  await Promise.all([...Array.from({ length: 20 }, () => piece('a')), piece('b'), piece('b')]);
  expect(order.indexOf('b')).toBeLessThanOrEqual(1);
  expect(order.lastIndexOf('b')).toBeLessThanOrEqual(3);
});

it('who waits too long, and who comes when too many wait, is told to come again', async () => {
  let nowMs = 0;
  const work = new LargeWork(() => nowMs);
  work.note(5);
  const late = work.turn('a');
  nowMs = 31_000;
  await expect(late).rejects.toMatchObject({ code: 'overloaded' });
  work.note(1e9);
  const waiting = Array.from({ length: 1000 }, (_, at) => work.turn(`owner ${at % 7}`));
  await expect(work.turn('one more')).rejects.toMatchObject({ code: 'overloaded' });
  expect(waiting).toHaveLength(1000);
});
