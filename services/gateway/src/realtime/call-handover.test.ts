import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CallHandover } from './call-handover.ts';
import { type CallState, type TakenCall, takenMax } from './call-register.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What Redis would tell: calls that nobody hears, and how many more may be noted. */
function startHandover({ orphans = 0, room = 100 } = {}) {
  const noted: string[] = [];
  const warned: unknown[] = [];
  let left = orphans;
  const handover = new CallHandover(
    {
      isShared: true,
      isFirst: async () => true,
      drop: async () => {},
      async note({ name }) {
        if (noted.length >= room) return false;
        noted.push(name);
        return true;
      },
      async look(names) {
        const taken = Array.from({ length: Math.min(takenMax, left) }, (): TakenCall => {
          left -= 1;
          return { name: `orphan ${left}`, sealed: '' };
        });
        const states = names.map((name): CallState => (noted.includes(name) ? 'own' : 'unknown'));
        return { states, taken };
      },
    },
    { info: () => {}, warn: (...what: unknown[]) => void warned.push(what) },
  );
  const adopted: string[] = [];
  handover.adopt = async ({ name }) => {
    adopted.push(name);
    return true;
  };
  handover.start();
  return { handover, noted, warned, adopted };
}

const call = { letGo() {} };

it('a call that is placed while its gateway leaves is noted, and what was taken and has ended is not again', async () => {
  const { handover, noted } = startHandover();
  handover.keep('before', '', call, false);
  await vi.advanceTimersByTimeAsync(1);
  expect(noted).toEqual(['before']);
  handover.drain();
  noted.length = 0;
  handover.keep('while', '', call, false);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(noted).toEqual(['while']);
  handover.stop();
});

it('of many calls that nobody hears more are taken at once, and that there are too many is said once', async () => {
  const { handover, adopted, warned } = startHandover({ orphans: 2 * takenMax + 1, room: 0 });
  for (let at = 0; at < 5; at++) handover.keep(`${at}`, '', call, false);
  await vi.advanceTimersByTimeAsync(1_600);
  expect(adopted).toHaveLength(2 * takenMax + 1);
  expect(warned).toHaveLength(1);
  handover.stop();
});
