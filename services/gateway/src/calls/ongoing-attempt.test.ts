import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import type { AttemptListener, EndedAttempt, PreparedCall } from '../exchange/prepared-call.ts';
import { OngoingAttempt } from './ongoing-attempt.ts';

const { Outcome } = usage;
const attempt = () => new OngoingAttempt({} as PreparedCall, 0);

describe('the listeners of an attempt', () => {
  it('hear one outcome, in their order, whatever is said afterwards', async () => {
    const heard: [string, EndedAttempt['outcome'], boolean][] = [];
    const listener =
      (name: string): AttemptListener =>
      () =>
      ({ outcome, isUrgent }) =>
        void heard.push([name, outcome, isUrgent]);
    const ongoing = attempt();
    await ongoing.begin([listener('first'), () => undefined, listener('second')]);
    ongoing.finishNow(Outcome.SUCCESS, 200, '', undefined);
    await ongoing.finish(Outcome.PARTIAL, 200, 'upstream.stream_cut', undefined);
    expect(heard).toEqual([
      ['first', Outcome.SUCCESS, true],
      ['second', Outcome.SUCCESS, true],
    ]);
  });

  it('are waited for, where they have to be', async () => {
    const done: string[] = [];
    const slow =
      (name: string): AttemptListener =>
      () =>
      async () => {
        await new Promise(setImmediate);
        done.push(name);
      };
    const ongoing = attempt();
    await ongoing.begin([slow('first'), slow('second')]);
    await ongoing.finish(Outcome.SUCCESS, 200, '', undefined);
    expect(done).toEqual(['first', 'second']);
  });

  it('after one that refuses the attempt are not asked', async () => {
    let asked = false;
    const ongoing = attempt();
    const refusing: AttemptListener = () => ({
      written: Promise.reject(new Error('disk full')),
      hears: () => {},
      refuse: (cause) => new GatewayError('gateway.ledger_full', { message: 'no room', cause }),
    });
    const after: AttemptListener = () => {
      asked = true;
      return undefined;
    };
    await expect(ongoing.begin([refusing, after])).rejects.toThrow('no room');
    expect(asked).toBe(false);
  });
});
