import type { ParametersOf } from '@sluice/contracts/checks';
import { type JsonObject, toldTools } from '@sluice/providers';
import type { CheckFunction } from '../check.ts';

/** Which tools a request may carry, which top-level keys, and which values under them. */
export function requestParametersCheck({
  tools = {},
  params = {},
}: ParametersOf<'default.requestParametersCheck'>): CheckFunction {
  const types = lists(tools.blockedTypes, tools.allowedTypes);
  const names = lists(tools.blockedFunctionNames, tools.allowedFunctionNames);
  const keys = lists(params.blockedKeys, params.allowedKeys);
  const values = Object.entries(params.values ?? {}).map(([key, given]) => ({
    key,
    lists: lists(given?.blockedValues, given?.allowedValues),
  }));
  return (context) => {
    const violations = new Violations();
    const untyped = context.endpoint === 'messages' ? 'custom' : 'function';
    for (const { type = untyped, name, wholeName } of toldTools(context.request)) {
      violations.judge('type', types, type);
      // One of a namespace may be listed by either name.
      const isBlocked = names.blocked.includes(name);
      const isWhole = [...names.blocked, ...names.allowed].includes(wholeName);
      violations.judge('name', names, isWhole && !isBlocked ? wholeName : name);
    }
    for (const key of Object.keys(context.request)) violations.judge('key', keys, key);
    for (const { key, lists } of values)
      if (Object.hasOwn(context.request, key))
        violations.judge('value', lists, context.request[key], key);
    const verdict = violations.found.length === 0;
    const explanation = verdict
      ? 'The request carries nothing that is blocked.'
      : `The request carries what is not allowed: ${violations.found.length} faults.`;
    return { verdict, data: { verdict, explanation, violations: violations.found } };
  };
}

interface Lists {
  readonly blocked: readonly unknown[];
  /** Empty = everything that is not blocked. */
  readonly allowed: readonly unknown[];
}

type GivenList = readonly unknown[] | null | undefined;

function lists(blocked: GivenList, allowed: GivenList): Lists {
  return { blocked: blocked ?? [], allowed: allowed ?? [] };
}

class Violations {
  readonly found: JsonObject[] = [];

  judge(what: 'type' | 'name' | 'key' | 'value', lists: Lists, item: unknown, key?: string): void {
    if (item === undefined) return;
    const isBlocked = lists.blocked.includes(item);
    if (!isBlocked && (lists.allowed.length === 0 || lists.allowed.includes(item))) return;
    // A request can be wrong in a thousand places; the first few tell enough.
    if (this.found.length >= violationsMax) return;
    this.found.push({
      reason: `${what}_${isBlocked ? 'blocked' : 'not_allowed'}`,
      ...(key === undefined ? { [what]: String(item).slice(0, 200) } : { key }),
    });
  }
}

const violationsMax = 20;
