import { arrayOf, type JsonObject, objectOf } from '@sluice/providers';
import { type CheckContext, CheckError, type CheckKind, type CheckParameters } from '../check.ts';
import { optionalList, optionalRecord, optionalTexts } from '../parameters.ts';

/** Which tools a request may carry, which top-level keys, and which values under them. */
export const requestParametersCheck: CheckKind = {
  id: 'default.requestParametersCheck',
  compile(parameters) {
    const tools = optionalRecord(parameters, 'tools') ?? {};
    const params = optionalRecord(parameters, 'params') ?? {};
    const types = listsOf(tools, 'blockedTypes', 'allowedTypes', optionalTexts);
    const names = listsOf(tools, 'blockedFunctionNames', 'allowedFunctionNames', optionalTexts);
    const keys = listsOf(params, 'blockedKeys', 'allowedKeys', optionalTexts);
    const valueLists = optionalRecord(params, 'values') ?? {};
    const values = Object.keys(valueLists).map((key) => ({
      key,
      lists: listsOf(
        optionalRecord(valueLists, key) ?? {},
        'blockedValues',
        'allowedValues',
        optionalList,
      ),
    }));

    return (context) => {
      const violations = new Violations();
      for (const tool of toolsOf(context)) {
        violations.judge('type', types, tool.type);
        violations.judge('name', names, tool.name);
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
  },
};

interface Lists {
  blocked: readonly unknown[];
  /** Empty = everything that is not blocked. */
  allowed: readonly unknown[];
}

function listsOf(
  parameters: CheckParameters,
  blockedName: string,
  allowedName: string,
  read: (parameters: CheckParameters, name: string) => readonly unknown[],
): Lists {
  const blocked = read(parameters, blockedName);
  const allowed = read(parameters, allowedName);
  if (allowed.some((item) => blocked.includes(item)))
    throw new CheckError(
      'InvalidParameters',
      `${blockedName} and ${allowedName} must not name the same.`,
    );
  return { blocked, allowed };
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

interface Tool {
  type: string | undefined;
  name: string | undefined;
}

/** Tools in OpenAI's and Anthropic's form, and OpenAI's older `functions`, which would be a way round. */
function toolsOf({ endpoint, request }: CheckContext): Tool[] {
  const untyped = endpoint === 'messages' ? 'custom' : 'function';
  const tools = (arrayOf(request.tools) ?? []).map((item) => {
    const tool = objectOf(item) ?? {};
    const named = objectOf(tool.function) ?? objectOf(tool.custom) ?? tool;
    return { type: textOf(tool.type) ?? untyped, name: textOf(named.name) };
  });
  const functions = (arrayOf(request.functions) ?? []).map((item) => ({
    type: 'function',
    name: textOf(objectOf(item)?.name),
  }));
  return [...tools, ...functions];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
