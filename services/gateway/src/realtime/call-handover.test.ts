import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { CallHandover } from './call-handover.ts';
import { type CallState, type TakenCall, takenMax } from './call-register.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What Redis would tell: calls that nobody hears, and how many more may be noted. */
function startHandover({ orphans = 0, room = 100, failures = 0 } = {}) {
  const noted: string[] = [];
  const warned: unknown[] = [];
  let left = orphans;
  let failing = failures;
  let looked = 0;
  const handover = new CallHandover(
    {
      isShared: true,
      isFirst: async () => true,
      drop: async () => {},
      async note({ name }) {
        if (failing-- > 0) throw new Error('redis is away');
        if (noted.length >= room) return false;
        noted.push(name);
        return true;
      },
      async look(names) {
        looked += 1;
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
  return { handover, noted, warned, adopted, looks: () => looked };
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

it('a call that could not be noted at once is noted while its gateway leaves', async () => {
  const { handover, noted } = startHandover({ failures: 1 });
  handover.keep('placed', '', call, false);
  await vi.advanceTimersByTimeAsync(1);
  expect(noted).toEqual([]);
  handover.drain();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(noted).toEqual(['placed']);
  handover.stop();
});

it('what is taken over and waits keeps nobody from looking, and is asked for once', async () => {
  const { handover, adopted, looks } = startHandover({ orphans: 2 });
  handover.adopt = ({ name }) => {
    adopted.push(name);
    return new Promise(() => {});
  };
  handover.keep('own', '', call, false);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(adopted).toEqual(['orphan 1', 'orphan 0']);
  // As long as its lease would be over twice: what is heard here was said again.
  expect(looks()).toBeGreaterThan(4);
  handover.stop();
});
