import type { CompiledConfig } from './compile-config.ts';
import type { Choice, RoutePlan } from './plan.ts';

/** Longest description, in bytes: all of it is ASCII. */
export const decisionBytesMax = 4000;
const openShownMax = 20;

const described = new WeakMap<RoutePlan, string>();

/**
 * How a request was routed, as compact JSON for its usage record:
 * `{"mode":"fallback","targets":2,"choices":[{"path":"config","mode":"fallback","picked":0,"reason":"order"}]}`.
 * Choices that do not fit are counted in `more`.
 */
export function describeDecision(config: CompiledConfig, plan: RoutePlan): string {
  if (plan !== config.staticPlan) return describe(config, plan);
  const known = described.get(plan);
  if (known !== undefined) return known;
  const text = describe(config, plan);
  described.set(plan, text);
  return text;
}

function describe(config: CompiledConfig, plan: RoutePlan): string {
  const head = `{"mode":"${config.strategyMode}","targets":${config.targets.length},"choices":[`;
  const parts: string[] = [];
  let length = head.length + 20;
  for (const choice of plan.choices) {
    const part = JSON.stringify(withoutTraces(choice));
    if (length + part.length + 1 > decisionBytesMax) break;
    parts.push(part);
    length += part.length + 1;
  }
  const left = plan.choices.length - parts.length;
  return `${head}${parts.join()}]${left === 0 ? '' : `,"more":${left}`}}`;
}

function withoutTraces({ conditions: _, scores: __, order: ___, open, ...choice }: Choice) {
  if (open === undefined) return choice;
  return open.length <= openShownMax
    ? { ...choice, open }
    : { ...choice, open: open.slice(0, openShownMax), openCount: open.length };
}
