import type { ConfigNode, JsonObject, JsonValue } from '@sluice/contracts';
import { configFault } from './config-fault.ts';
import { hash32 } from './hash.ts';

/** The checks of one target, shorthand resolved; in the order they run. */
export interface TargetHooks {
  readonly beforeRequest: readonly Hook[];
  readonly afterRequest: readonly Hook[];
}

export interface Hook {
  readonly id: string;
  readonly type: 'guardrail' | 'mutator';
  readonly deny: boolean;
  readonly async: boolean;
  readonly sequential: boolean;
  readonly checks: readonly HookCheck[];
  readonly onSuccess: HookFeedback | undefined;
  readonly onFail: HookFeedback | undefined;
}

export interface HookCheck {
  /** `plugin.function`, e.g. `default.regexMatch`. */
  readonly id: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
}

export interface HookFeedback {
  readonly value: number;
  readonly weight: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Hooks as one node says them. What this release cannot run is named beside them. */
export interface HookList {
  readonly hooks: readonly Hook[];
  readonly unavailable: { readonly path: string; readonly what: string } | undefined;
}

export const noHooks: HookList = { hooks: [], unavailable: undefined };

type Side = 'input' | 'output';

const keysOf = {
  input: {
    hooks: 'before_request_hooks',
    guardrails: 'input_guardrails',
    mutators: 'input_mutators',
    defaults: 'default_input_guardrails',
  },
  output: {
    hooks: 'after_request_hooks',
    guardrails: 'output_guardrails',
    mutators: 'output_mutators',
    defaults: 'default_output_guardrails',
  },
} as const;

/**
 * A node's own hooks of one side: explicit ones, guardrail shorthand, mutators.
 * Undefined = it defines none, and those of its parent hold.
 */
export function ownHooks(
  node: ConfigNode,
  side: Side,
  path: string,
  knownChecks: ReadonlySet<string> | undefined,
): HookList | undefined {
  const keys = keysOf[side];
  const explicit = node[keys.hooks];
  const guardrails = node[keys.guardrails];
  const mutators = node[keys.mutators];
  if (explicit === undefined && guardrails === undefined && mutators === undefined)
    return undefined;
  const reader = new HookReader(knownChecks);
  for (const [index, hook] of (explicit ?? []).entries())
    reader.readExplicit(hook as JsonObject, `${path}.${keys.hooks}[${index}]`);
  reader.readShorthand(guardrails, `${side}_guardrail`, 'guardrail', `${path}.${keys.guardrails}`);
  reader.readShorthand(mutators, `${side}_mutator`, 'mutator', `${path}.${keys.mutators}`);
  return reader.list();
}

/** The enforced guardrails of a node: they are added to whatever a target has. */
export function enforcedHooks(
  node: ConfigNode,
  side: Side,
  path: string,
  knownChecks: ReadonlySet<string> | undefined,
): HookList | undefined {
  const key = keysOf[side].defaults;
  const guardrails = node[key];
  if (guardrails === undefined) return undefined;
  const reader = new HookReader(knownChecks);
  reader.readShorthand(guardrails, `${side}_guardrail`, 'guardrail', `${path}.${key}`);
  return reader.list();
}

export function joinHooks(first: HookList, second: HookList): HookList {
  if (second === noHooks) return first;
  return {
    hooks: [...first.hooks, ...second.hooks],
    unavailable: first.unavailable ?? second.unavailable,
  };
}

/** Keys of a shorthand object that are not checks; lists of the user's own keys are not folded. */
const settingKeys = new Set([
  'deny',
  'on_fail',
  'onFail',
  'on_success',
  'onSuccess',
  'async',
  'id',
  'type',
  'guardrail_version_id',
  'guardrailVersionId',
  'sequential',
  'credentials',
]);

class HookReader {
  readonly #hooks: Hook[] = [];
  readonly #knownChecks: ReadonlySet<string> | undefined;
  #unavailable: HookList['unavailable'];

  constructor(knownChecks: ReadonlySet<string> | undefined) {
    this.#knownChecks = knownChecks;
  }

  list(): HookList {
    return { hooks: this.#hooks, unavailable: this.#unavailable };
  }

  readExplicit(hook: JsonObject, path: string): void {
    const checks = (Array.isArray(hook.checks) ? hook.checks : []).map((entry, index) => {
      const check = objectOr(entry, `${path}.checks[${index}]`);
      const id = check.id;
      if (typeof id !== 'string' || id === '')
        throw configFault(`${path}.checks[${index}].id`, 'is required');
      const parameters = check.parameters ?? {};
      return this.#check(
        id,
        objectOr(parameters, `${path}.checks[${index}].parameters`),
        check,
        hook,
        `${path}.checks[${index}].id`,
      );
    });
    const type = hook.type === 'mutator' ? 'mutator' : 'guardrail';
    this.#hooks.push(newHook(hook, String(hook.id), type, checks, path));
  }

  readShorthand(
    list: readonly (string | JsonObject)[] | undefined,
    idPrefix: string,
    type: Hook['type'],
    path: string,
  ): void {
    for (const [index, entry] of (list ?? []).entries()) {
      const at = `${path}[${index}]`;
      if (typeof entry === 'string')
        this.#unavailable ??= {
          path: at,
          what: `names the saved guardrail "${entry.slice(0, 80)}"; saved guardrails are not available in this release`,
        };
      else this.#hooks.push(this.#readShorthandHook(entry, idPrefix, type, at));
    }
  }

  #readShorthandHook(hook: JsonObject, idPrefix: string, type: Hook['type'], path: string): Hook {
    const checks = Object.entries(hook)
      .filter(([key]) => !settingKeys.has(key))
      .map(([key, value]) => {
        const { id, is_enabled, isEnabled, ...parameters } = objectOr(value, `${path}.${key}`);
        const flags = { is_enabled: is_enabled ?? isEnabled ?? true };
        const checkId = typeof id === 'string' && id !== '' ? id : key;
        return this.#check(checkId, parameters, flags, hook, `${path}.${key}`);
      });
    const id = typeof hook.id === 'string' ? hook.id : `${idPrefix}_${threeDigits(path)}`;
    const ownType = hook.type === 'mutator' || hook.type === 'guardrail' ? hook.type : type;
    return newHook(hook, id, ownType, checks, path);
  }

  #check(
    name: string,
    parameters: JsonObject,
    flags: JsonObject,
    hook: JsonObject,
    path: string,
  ): HookCheck {
    const id = name.includes('.') ? name : `default.${name}`;
    const isEnabled = (flags.is_enabled ?? flags.isEnabled) !== false;
    if (isEnabled && this.#knownChecks !== undefined && !this.#knownChecks.has(id))
      this.#unavailable ??= {
        path,
        what: `names the check "${id.slice(0, 80)}", which is not available in this release`,
      };
    return {
      id,
      parameters: withCredentials(parameters, hook.credentials),
      isEnabled,
    };
  }
}

/** A check's own credentials win over those of its hook. */
function withCredentials(parameters: JsonObject, credentials: JsonValue | undefined): JsonObject {
  if (!isObject(credentials)) return parameters;
  const own = isObject(parameters.credentials) ? parameters.credentials : {};
  return { ...parameters, credentials: { ...credentials, ...own } };
}

function newHook(
  hook: JsonObject,
  id: string,
  type: Hook['type'],
  checks: readonly HookCheck[],
  path: string,
): Hook {
  return {
    id,
    type,
    deny: hook.deny === true,
    async: hook.async === true,
    sequential: hook.sequential === true,
    checks,
    onSuccess: feedbackOf(hook.on_success ?? hook.onSuccess, `${path}.on_success`),
    onFail: feedbackOf(hook.on_fail ?? hook.onFail, `${path}.on_fail`),
  };
}

function feedbackOf(value: JsonValue | undefined, path: string): HookFeedback | undefined {
  if (value === undefined || value === null) return undefined;
  const { feedback } = objectOr(value, path);
  if (feedback === undefined || feedback === null) return undefined;
  const said = objectOr(feedback, `${path}.feedback`);
  return {
    value: numberWithin(said.value, -10, 10, 0, `${path}.feedback.value`),
    weight: numberWithin(said.weight, 0, 1, 1, `${path}.feedback.weight`),
    metadata: isObject(said.metadata) ? said.metadata : {},
  };
}

function numberWithin(
  value: JsonValue | undefined,
  min: number,
  max: number,
  fallback: number,
  path: string,
): number {
  if (value === undefined || value === null) return fallback;
  if (typeof value !== 'number' || value < min || value > max)
    throw configFault(path, `must be a number from ${min} to ${max}`);
  return value;
}

function objectOr(value: JsonValue | undefined, path: string): JsonObject {
  if (!isObject(value)) throw configFault(path, 'must be an object');
  return value;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Three base-36 digits out of a place, so that a hook has the same name in every replica. */
function threeDigits(path: string): string {
  return (hash32(path, 0) % 46_656).toString(36).padStart(3, '0');
}
