import { directConfig, type ResolvedTarget } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { exampleExchange, exampleReply } from '../../test/exchange.ts';
import { Ladder } from './ladder.ts';
import type { Step } from './step.ts';
import { TargetVisit } from './target-visit.ts';

const plain = directConfig.targets[0] as ResolvedTarget;
const cached: ResolvedTarget = { ...plain, cache: { maxAgeS: undefined, semantic: undefined } };
const visitOf = (planned: ResolvedTarget) => new TargetVisit(exampleExchange(), planned);

/** Three steps of which the second is for cached targets, and what they did. */
function steps(refusing?: string) {
  const done: string[] = [];
  const step = (name: string, isNeeded?: Step['isNeeded']): Step => ({
    isNeeded,
    run(visit, next) {
      done.push(name);
      return next(visit);
    },
    judge() {
      done.push(`judge ${name}`);
      if (name === refusing) throw new GatewayError('provider.missing');
    },
  });
  const last: Step = {
    run: async () => ({ status: 200, stops: false, reply: exampleReply, error: undefined }),
  };
  const ladder = new Ladder([
    step('first'),
    step('second', ({ cache }) => cache !== undefined),
    step('third'),
    last,
  ]);
  return { ladder, done };
}

describe('a ladder', () => {
  it('does for a target what it needs, in order, and leaves the rest out', async () => {
    const { ladder, done } = steps();
    expect((await ladder.climb(visitOf(cached))).reply).toBe(exampleReply);
    expect(done.splice(0)).toEqual(['first', 'second', 'third']);
    await ladder.climb(visitOf(plain));
    expect(done).toEqual(['first', 'third']);
  });

  it('gives the very promise of the step that answers where no other waits for anything', () => {
    const answer = new Promise<never>(() => {});
    const passing: Step = { run: (visit, next) => next(visit) };
    const ladder = new Ladder([passing, passing, { run: () => answer }]);
    expect(ladder.climb(visitOf(plain))).toBe(answer);
  });

  it('judges by the same steps in the same order, and does nothing', async () => {
    const { ladder, done } = steps();
    await ladder.judge(visitOf(cached));
    expect(done.splice(0)).toEqual(['judge first', 'judge second', 'judge third']);
    await ladder.judge(visitOf(plain));
    expect(done).toEqual(['judge first', 'judge third']);
  });

  it('judges no further than the first refusal', async () => {
    const { ladder, done } = steps('second');
    await expect(ladder.judge(visitOf(cached))).rejects.toMatchObject({ code: 'provider.missing' });
    expect(done).toEqual(['judge first', 'judge second']);
  });
});
