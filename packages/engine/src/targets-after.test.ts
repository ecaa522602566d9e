import { describe, expect, it } from 'vitest';
import { compileConfig } from './compile-config.ts';
import type { PlanStep } from './plan.ts';
import type { ResolvedTarget } from './resolved-target.ts';
import { targetsAfter } from './targets-after.ts';

const { targets } = compileConfig({ targets: [1, 2, 3, 4].map((at) => ({ provider: `@p${at}` })) });
const [first, second, third, fourth] = targets as [
  ResolvedTarget,
  ResolvedTarget,
  ResolvedTarget,
  ResolvedTarget,
];
const step = (target: ResolvedTarget): PlanStep => ({ kind: 'target', target });
const inOrder = (...steps: PlanStep[]): PlanStep => ({
  kind: 'fallback',
  path: 'config',
  onStatusCodes: new Set([429]),
  steps,
});

describe('the targets after one', () => {
  const root = inOrder(step(first), inOrder(step(second), step(third)), step(fourth));

  it('are those that the plan has behind it, at all depths, whatever status codes it waits for', () => {
    expect(targetsAfter(root, second)).toEqual([third, fourth]);
    expect(targetsAfter(root, fourth)).toEqual([]);
  });

  it('are none where the plan has but one, or not this one', () => {
    expect(targetsAfter(step(first), first)).toEqual([]);
    expect(targetsAfter(step(first), second)).toEqual([]);
  });
});
