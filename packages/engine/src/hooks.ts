import type { ConfigNode, JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Author } from './author.ts';
import { configFault } from './config-fault.ts';
import { hash32 } from './hash.ts';
import type { Hook, HookCheck } from './hook.ts';
import { isJsonObject, objectOr } from './hook-feedback.ts';
import { hookSettings, unsaid } from './hook-settings.ts';
import { readStreaming, saysStreaming, streamingKeys } from './hook-streaming.ts';

/** Hooks as one node says them. What this release cannot run is named beside them. */
export interface HookList {
  readonly hooks: readonly Hook[];
  readonly unavailable: { readonly path: string; readonly what: string } | undefined;
}

export const noHooks: HookList = { hooks: [], unavailable: undefined };

/** What there is to read hooks by. */
export interface HookReading {
  /** Ids of the checks that can be run; undefined = all. */
  readonly knownChecks: ReadonlySet<string> | undefined;
  /** The saved guardrail that a name means; undefined = there is none. */
  readonly findGuardrail: ((reference: string) => Hook | undefined) | undefined;
  /** Whether a check can do nothing without credentials, to refuse one that has none; undefined = it tells when it runs. */
  readonly needsCredentials: ((checkId: string) => boolean) | undefined;
  readonly by: Author;
}

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
  reading: HookReading,
): HookList | undefined {
  const keys = keysOf[side];
  const explicit = node[keys.hooks];
  const guardrails = node[keys.guardrails];
  const mutators = node[keys.mutators];
  if (explicit === undefined && guardrails === undefined && mutators === undefined)
    return undefined;
  const reader = new HookReader(reading);
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
  reading: HookReading,
): HookList | undefined {
  const key = keysOf[side].defaults;
  const guardrails = node[key];
  if (guardrails === undefined) return undefined;
  const reader = new HookReader(reading);
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
  ...streamingKeys,
  'credentials',
  'soft_deny_200',
  'softDeny200',
  'timeout',
  'max_text_length',
  'maxTextLength',
]);

class HookReader {
  readonly #hooks: Hook[] = [];
  readonly #reading: HookReading;
  #unavailable: HookList['unavailable'];

  constructor(reading: HookReading) {
    this.#reading = reading;
  }

  list(): HookList {
    return { hooks: this.#hooks, unavailable: this.#unavailable };
  }

  readExplicit(hook: JsonObject, path: string): void {
    const ownType = hook.type === 'mutator' ? 'mutator' : 'guardrail';
    if (hook.checks === undefined) {
      this.#hooks.push(this.#saved(String(hook.id), hook, ownType, `${path}.id`));
      return;
    }
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
    this.#hooks.push(this.#newHook(hook, String(hook.id), ownType, checks, path));
  }

  readShorthand(
    list: readonly (string | JsonObject)[] | undefined,
    idPrefix: string,
    type: Hook['type'],
    path: string,
  ): void {
    for (const [index, entry] of (list ?? []).entries()) {
      const at = `${path}[${index}]`;
      if (typeof entry === 'string') this.#hooks.push(this.#saved(entry, {}, type, at));
      else this.#hooks.push(this.#readShorthandHook(entry, idPrefix, type, at));
    }
  }

  #readShorthandHook(hook: JsonObject, idPrefix: string, type: Hook['type'], path: string): Hook {
    const ownType = hook.type === 'mutator' || hook.type === 'guardrail' ? hook.type : type;
    const named = Object.entries(hook).filter(([key]) => !settingKeys.has(key));
    if (named.length === 0 && typeof hook.id === 'string')
      return this.#saved(hook.id, hook, ownType, `${path}.id`);
    const checks = named.map(([key, value]) => {
      const { id, is_enabled, isEnabled, ...parameters } = objectOr(value, `${path}.${key}`);
      const flags = { is_enabled: is_enabled ?? isEnabled ?? true };
      const checkId = typeof id === 'string' && id !== '' ? id : key;
      return this.#check(checkId, parameters, flags, hook, `${path}.${key}`);
    });
    const id = typeof hook.id === 'string' ? hook.id : `${idPrefix}_${threeDigits(path)}`;
    return this.#newHook(hook, id, ownType, checks, path);
  }

  /** A saved guardrail, with what the config says differently of it. */
  #saved(reference: string, said: JsonObject, type: Hook['type'], path: string): Hook {
    const saved = this.#reading.findGuardrail?.(reference);
    if (saved === undefined)
      throw new GatewayError('guardrail.not_found', {
        field: path,
        message: `${path} names the guardrail "${reference.slice(0, 80)}", which does not exist in this workspace.`,
      });
    for (const { id, isEnabled } of saved.checks) if (isEnabled) this.#expectKnown(id, path);
    const credentials = said.credentials;
    const own: Partial<Hook> = {
      ...hookSettings(said, path),
      ...(saysStreaming(said) ? { streaming: readStreaming(said, path, saved.streaming) } : {}),
      ...(type === 'mutator' ? { type } : {}),
      // As a whole: half of them would send a saved secret to an address that somebody else names.
      // They hold addresses too, which are then the word of whoever wrote this config.
      ...(isJsonObject(credentials)
        ? {
            by: this.#reading.by,
            checks: saved.checks.map((check) => ({
              ...check,
              parameters: { ...check.parameters, credentials },
            })),
          }
        : {}),
    };
    return Object.keys(own).length === 0 ? saved : { ...saved, ...own, versionId: undefined };
  }

  #expectKnown(id: string, path: string): void {
    if (this.#reading.knownChecks?.has(id) === false)
      this.#unavailable ??= {
        path,
        what: `names the check "${id.slice(0, 80)}", which is not available in this release`,
      };
  }

  #newHook(
    hook: JsonObject,
    id: string,
    type: Hook['type'],
    checks: readonly HookCheck[],
    path: string,
  ): Hook {
    return {
      id,
      type,
      ...unsaid,
      ...hookSettings(hook, path),
      streaming: readStreaming(hook, path),
      checks,
      by: this.#reading.by,
      isEnforced: false,
      versionId: undefined,
    };
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
    const complete = withCredentials(parameters, hook.credentials);
    if (isEnabled) {
      this.#expectKnown(id, path);
      if (complete.credentials === undefined && this.#reading.needsCredentials?.(id) === true)
        throw configFault(path, `names the check "${id}", which needs credentials`);
    }
    return {
      id,
      parameters: complete,
      isEnabled,
      deniesSoftly: (parameters.soft_deny_200 ?? flags.soft_deny_200 ?? flags.softDeny200) === true,
    };
  }
}

/** A check's own credentials win over those of its hook. */
function withCredentials(parameters: JsonObject, credentials: JsonValue | undefined): JsonObject {
  if (!isJsonObject(credentials)) return parameters;
  const own = isJsonObject(parameters.credentials) ? parameters.credentials : {};
  return { ...parameters, credentials: { ...credentials, ...own } };
}

/** Three base-36 digits out of a place, so that a hook has the same name in every replica. */
function threeDigits(path: string): string {
  return (hash32(path, 0) % 46_656).toString(36).padStart(3, '0');
}
