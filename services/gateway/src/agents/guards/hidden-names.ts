import { folded, isObject } from '@sluice/a2a';
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isPlainMember } from '@sluice/providers';

type Path = readonly (string | number)[];

/** Members of messages and tasks that name something, where they are not within what is said. */
const naming: ReadonlySet<string> = new Set([
  'id',
  'taskid',
  'contextid',
  'messageid',
  'artifactid',
  'referencetaskids',
]);

/** What is said is below these, and names there are the speaker's own. */
const said: ReadonlySet<string> = new Set(['parts', 'metadata', 'data']);

/** Below these all names are the speaker's own. */
const ownNames: ReadonlySet<string> = new Set(['metadata', 'data']);

/** Whether a value at this path is the name of a task, a message or the like. */
export function isNaming(path: Path): boolean {
  const steps = path.flatMap((step) => (typeof step === 'string' ? [folded(step)] : []));
  return naming.has(steps.at(-1) ?? '') && !steps.some((step) => said.has(step));
}

/**
 * A document of A2A for checks, which are to read what is said: null stands for names
 * that say nothing, and for the protocol's own words. Were they changed, nobody would find the task any more.
 */
export function withoutNames(
  document: JsonObject,
  saysNothing: (name: string) => boolean,
): JsonObject {
  return hidden(document, [], saysNothing) as JsonObject;
}

function hidden(value: JsonValue, path: Path, saysNothing: (name: string) => boolean): JsonValue {
  if (Array.isArray(value))
    return value.map((item, at) => hidden(item, [...path, at], saysNothing));
  if (isObject(value)) {
    const copy: JsonObject = {};
    for (const [name, inner] of Object.entries(value)) {
      const within = inner as JsonValue;
      const isOwn = ownNames.has(folded(name));
      define(copy, name, isOwn ? within : hidden(within, [...path, name], saysNothing));
    }
    return copy;
  }
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const isHidden = (isNaming(path) && saysNothing(String(value))) || isLabel(path, value);
  return isHidden ? null : value;
}

/** Whether it is the protocol's own word for what something is, where that stands. */
export function isLabel(path: Path, value: JsonValue): boolean {
  const last = path.at(-1);
  if (typeof last !== 'string' || typeof value !== 'string') return false;
  if (last === 'jsonrpc') return path.length === 1 && value === '2.0';
  return labels.has(last) && ownWords.test(value) && !path.some(isOwn);
}

function isOwn(step: string | number): boolean {
  return typeof step === 'string' && ownNames.has(folded(step));
}

const labels: ReadonlySet<string> = new Set(['kind', 'type', 'role', 'state']);

const ownWords =
  /^(?:message|task|(?:status|artifact)-update|text|data|file|user|agent|(?:TASK_STATE|ROLE)_[A-Z_]{1,24}|submitted|working|(?:input|auth)-required|completed|canceled|failed|rejected|unknown)$/;

/** Defined, not assigned: a member may be called `__proto__`. */
function define(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** What programs draw; nobody writes anything in it. */
export function isDrawn(name: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(name);
}

/** As agents name their tasks and messages: no space, and not long. */
export function isPlainName(name: string): boolean {
  return /^[\w.:~-]{1,128}$/.test(name);
}

/** Whether there is a text in it at all, the envelope of JSON-RPC aside. */
export function saysSomething(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([name, inner]) => !isPlainMember(name) || saysSomething(inner),
  );
}
