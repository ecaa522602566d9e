import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { compileConfig } from './compile-config.ts';
import type { PlanStep } from './plan.ts';
import { type TargetResult, walkPlan } from './walk-plan.ts';

const { targets } = compileConfig({
  targets: Array.from({ length: 5 }, () => ({ provider: '@a' })),
});

function target(index: number): PlanStep {
  const found = targets[index];
  if (found === undefined) throw new Error(`no target ${index}`);
  return { kind: 'target', target: found };
}

function fallback(steps: PlanStep[], onStatusCodes?: number[]): PlanStep {
  const codes = onStatusCodes === undefined ? undefined : new Set(onStatusCodes);
  return { kind: 'fallback', path: 'config', onStatusCodes: codes, steps };
}

/** The targets asked, and the result, when they answer with these statuses one after the other. */
function walk(step: PlanStep, ...answers: (number | TargetResult)[]) {
  const asked: number[] = [];
  const walker = walkPlan<TargetResult>(step);
  let next = walker.next();
  while (next.done !== true) {
    const answer = answers[asked.length] ?? 500;
    asked.push(next.value.index);
    next = walker.next(typeof answer === 'number' ? { status: answer, stops: false } : answer);
  }
  return { asked, status: next.value.status };
}

const refusal: PlanStep = { kind: 'refusal', path: 'config.targets[1]', message: 'nothing fits' };

describe('walkPlan', () => {
  it('asks a single target once', () => {
    expect(walk(target(3), 500)).toEqual({ asked: [3], status: 500 });
  });

  it.each([
    [400, 1],
    [408, 1],
    [412, 1],
    [429, 1],
    [446, 1],
    [500, 1],
    [200, 0],
    [204, 0],
    [246, 0],
  ])('takes %i for a reason to move on: %i', (status, movesOn) => {
    const { asked } = walk(fallback([target(0), target(1)]), status, 200);
    expect(asked).toEqual(movesOn === 1 ? [0, 1] : [0]);
  });

  it('moves on for listed codes only, when there is a list', () => {
    const chain = fallback([target(0), target(1)], [429]);
    expect(walk(chain, 500)).toEqual({ asked: [0], status: 500 });
    expect(walk(chain, 429, 200)).toEqual({ asked: [0, 1], status: 200 });
    expect(walk(fallback([target(0), target(1)], [246]), 246, 200).asked).toEqual([0, 1]);
    expect(walk(fallback([target(0), target(1)], []), 500).asked).toEqual([0]);
  });

  it('returns the last result when all fail', () => {
    expect(walk(fallback([target(0), target(1), target(2)]), 500, 429, 503)).toEqual({
      asked: [0, 1, 2],
      status: 503,
    });
  });

  it('stops at once at a fault of our own, also across nested chains', () => {
    const chain = fallback([fallback([target(0), target(1)]), target(2)]);
    expect(walk(chain, { status: 500, stops: true })).toEqual({ asked: [0], status: 500 });
  });

  it('lets an outer chain judge what an inner one returns', () => {
    const chain = fallback([fallback([target(0), target(1)], [429]), target(2)]);
    expect(walk(chain, 500, 200)).toEqual({ asked: [0, 2], status: 200 });
    expect(walk(chain, 429, 500, 200)).toEqual({ asked: [0, 1, 2], status: 200 });
  });

  it('ends the request at a refusal, which no fallback catches', () => {
    const chain = fallback([target(0), refusal, target(2)]);
    const walker = walkPlan<TargetResult>(chain);
    walker.next();
    let thrown: unknown;
    try {
      walker.next({ status: 500, stops: false });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(GatewayError);
    expect(thrown).toMatchObject({
      code: 'config.no_route',
      status: 400,
      field: 'config.targets[1]',
      message: 'nothing fits',
    });
  });

  it('does not reach a refusal while something before it answers', () => {
    expect(walk(fallback([target(0), refusal]), 200)).toEqual({ asked: [0], status: 200 });
  });
});
