import type { JsonObject } from '@sluice/contracts';
import type { Quirks } from '../contract.ts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';

/** The body with the provider's quirks applied; undefined when it stays as it is. */
export function applyQuirks(body: JsonObject, quirks: Quirks | undefined): JsonObject | undefined {
  if (quirks === undefined) return undefined;
  const draft = new Draft(body);
  renameFields(draft, quirks);
  for (const key of quirks.drop ?? []) draft.remove(key);
  changeValues(draft, quirks);
  for (const key in quirks.force) draft.set(key, quirks.force[key]);
  changeModel(draft, quirks);
  if (quirks.effortSwitchesThinking === true) switchThinking(draft);
  if (quirks.developerAsSystem === true) renameDeveloper(draft);
  if (quirks.joinsTurns === true) joinTurns(draft);
  return draft.edited;
}

/** Fields that were there and that the provider does not get. */
export function droppedByQuirks(body: JsonObject, quirks: Quirks | undefined): string[] {
  return (quirks?.drop ?? []).filter(
    (key) => key !== 'stream_options' && body[key] !== undefined && body[key] !== null,
  );
}

/** A body that is copied by the first edit, since the original is the caller's. */
class Draft {
  edited: JsonObject | undefined;
  #original: JsonObject;

  constructor(original: JsonObject) {
    this.#original = original;
  }

  get(key: string): JsonObject[string] | undefined {
    return (this.edited ?? this.#original)[key];
  }

  set(key: string, value: JsonObject[string] | undefined): void {
    if (value === undefined) return;
    this.edited ??= { ...this.#original };
    this.edited[key] = value;
  }

  remove(key: string): void {
    if (this.get(key) === undefined) return;
    this.edited ??= { ...this.#original };
    delete this.edited[key];
  }
}

function renameFields(draft: Draft, { rename }: Quirks): void {
  for (const from in rename) {
    const value = draft.get(from);
    const to = rename[from];
    if (value === undefined || to === undefined) continue;
    draft.remove(from);
    if (draft.get(to) === undefined) draft.set(to, value);
  }
}

function changeValues(draft: Draft, { clamp, values }: Quirks): void {
  for (const key in clamp) {
    const value = draft.get(key);
    const [min, max] = clamp[key] as readonly [number, number];
    if (typeof value !== 'number' || (value >= min && value <= max)) continue;
    draft.set(key, value < min ? min : max);
  }
  for (const key in values) {
    const value = draft.get(key);
    const words = values[key] as Readonly<Record<string, JsonObject[string]>>;
    if (typeof value === 'string' && Object.hasOwn(words, value)) draft.set(key, words[value]);
  }
}

function changeModel(draft: Draft, { modelPrefix }: Quirks): void {
  const model = draft.get('model');
  if (modelPrefix === undefined || typeof model !== 'string') return;
  if (model.startsWith(modelPrefix)) draft.set('model', model.slice(modelPrefix.length));
}

function switchThinking(draft: Draft): void {
  const effort = stringOf(draft.get('reasoning_effort'));
  if (effort === undefined) return;
  if (draft.get('thinking') === undefined)
    draft.set('thinking', { type: effort === 'none' ? 'disabled' : 'enabled' });
  if (effort === 'none') draft.remove('reasoning_effort');
}

function renameDeveloper(draft: Draft): void {
  const messages = arrayOf(draft.get('messages'));
  if (messages?.some((message) => objectOf(message)?.role === 'developer') !== true) return;
  draft.set(
    'messages',
    messages.map((message) => {
      const object = objectOf(message);
      return object?.role === 'developer' ? { ...object, role: 'system' } : message;
    }),
  );
}

function joinTurns(draft: Draft): void {
  const messages = arrayOf(draft.get('messages'));
  if (messages?.some((message, index) => isSameTurn(messages[index - 1], message)) !== true) return;
  const joined: JsonObject[string][] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    if (isSameTurn(last, message)) joined[joined.length - 1] = joinTwo(last, message);
    else joined.push(message);
  }
  draft.set('messages', joined);
}

function isSameTurn(
  before: JsonObject[string] | undefined,
  message: JsonObject[string] | undefined,
): boolean {
  const role = objectOf(message)?.role;
  return (role === 'user' || role === 'assistant') && objectOf(before)?.role === role;
}

function joinTwo(
  before: JsonObject[string] | undefined,
  message: JsonObject[string],
): JsonObject[string] {
  const first = objectOf(before) ?? {};
  const second = objectOf(message) ?? {};
  const { content: a = '' } = first;
  const { content: b = '' } = second;
  const content =
    typeof a === 'string' && typeof b === 'string'
      ? [a, b].filter((text) => text !== '').join('\n\n')
      : [...partsOf(a), ...partsOf(b)];
  return { ...first, ...second, content };
}

function partsOf(content: JsonObject[string]): JsonObject[string][] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return arrayOf(content) ?? [];
}
