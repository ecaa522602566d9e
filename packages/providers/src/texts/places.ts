import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CheckSubject } from '@sluice/contracts/checks';
import { JsonError, jsonBounds, readJsonText } from '@sluice/json';
import { runsOf, type Texts } from './texts.ts';

/** One text of a document: where it stands, and as what. */
export interface Place {
  readonly subject: Exclude<CheckSubject, 'last_message' | 'all'>;
  /** It belongs to what is asked now, or to the first choice of an answer. */
  readonly isLast: boolean;
  readonly path: Path;
  readonly text: string;
}

/** From the root on. Texts within one JSON text share the very path that leads into it. */
export interface Path {
  readonly parent: Path | undefined;
  /** `inText` goes into the JSON that a text is. */
  readonly step: Step;
  /** The text is the name of this member, not its value. */
  readonly isName?: boolean;
  /** The text is in base64 there, behind this. */
  readonly base64Of?: string;
}

export type Step = string | number | typeof inText;

export const inText = Symbol('in text');

export function pathTo(parent: Path | undefined, first: Step, ...steps: Step[]): Path {
  return steps.reduce<Path>((path, step) => ({ parent: path, step }), { parent, step: first });
}

/** These places of a document as its texts. */
export function textsAt(
  document: JsonObject,
  places: readonly Pick<Place, 'path' | 'text'>[],
): Texts {
  const parts = places.map(({ text }) => text);
  return {
    parts,
    joined: parts.join('\n'),
    together(others = parts) {
      const texts = places.flatMap(({ path }, at) => (isOfList(path) ? [at] : []));
      return runsOf(
        texts.map((at) => others[at] ?? ''),
        (at) => areNeighbours(places[texts[at] ?? 0]?.path, places[texts[at + 1] ?? 0]?.path),
      );
    },
    replace(replaced) {
      const edit = new Edit(copyOf(document) as JsonObject);
      for (const [index, { path, text }] of places.entries()) {
        const other = replaced[index] ?? null;
        if (other !== null && other !== text) edit.put(path, other);
      }
      return edit.done();
    },
  };
}

/** The `text` of one of several things. */
function isOfList({ step, parent, isName }: Path): boolean {
  return step === 'text' && isName !== true && typeof parent?.step === 'number';
}

/** The one behind the other in the same list. */
function areNeighbours(one: Path | undefined, next: Path | undefined): boolean {
  if (Number(next?.parent?.step) !== Number(one?.parent?.step) + 1) return false;
  return isSame(one?.parent?.parent, next?.parent?.parent);
}

function isSame(one: Path | undefined, other: Path | undefined): boolean {
  for (; one !== other; one = one.parent, other = other.parent)
    if (one === undefined || other === undefined || one.step !== other.step) return false;
  return true;
}

/** Changes of one document, each holder of them read and written once. */
class Edit {
  readonly #root: JsonObject;
  /** The JSON in texts, by the path into it. */
  readonly #opened = new Map<Path, Json>();
  readonly #names = new Map<JsonObject, Map<string, string>>();
  /** Members that are files, and were written. */
  readonly #files = new Map<Json, Set<Step>>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  put({ parent, step, isName, base64Of }: Path, text: string): void {
    const holder = this.#at(parent);
    if (typeof holder !== 'object' || holder === null || step === inText) return;
    if (isName !== true) {
      const files = this.#files.get(holder);
      if (base64Of === undefined) {
        // What a file says is more than what is seen of it.
        if (files?.has(step) !== true) define(holder, step, text);
        return;
      }
      this.#files.set(holder, (files ?? new Set<Step>()).add(step));
      define(holder, step, base64Of + Buffer.from(text, 'utf8').toString('base64'));
      return;
    }
    if (Array.isArray(holder)) return;
    const names = this.#names.get(holder) ?? new Map<string, string>();
    this.#names.set(holder, names.set(String(step), text));
  }

  /** The document. Names last: until then paths lead by those that they were found by. */
  done(): JsonObject {
    for (const [holder, names] of this.#names) {
      const entries = Object.entries(holder);
      for (const [name] of entries) delete holder[name];
      for (const [name, value] of entries) define(holder, names.get(name) ?? name, value);
    }
    for (const [{ parent }, value] of this.#opened) {
      const holder = this.#at(parent?.parent);
      if (parent !== undefined && parent.step !== inText && isHolder(holder))
        define(holder, parent.step, JSON.stringify(value));
    }
    return this.#root;
  }

  #at(path: Path | undefined): JsonValue | undefined {
    if (path === undefined) return this.#root;
    const opened = path.step === inText ? this.#opened.get(path) : undefined;
    if (opened !== undefined) return opened;
    const { parent, step } = path;
    const value = this.#at(parent);
    if (step === inText) {
      const json = typeof value === 'string' ? jsonIn(value) : undefined;
      if (json !== undefined) this.#opened.set(path, json);
      return json;
    }
    if (!isHolder(value)) return undefined;
    if (Array.isArray(value)) return value[Number(step)];
    return Object.hasOwn(value, step) ? value[step] : undefined;
  }
}

type Json = JsonObject | JsonValue[];

function isHolder(value: JsonValue | undefined): value is Json {
  return typeof value === 'object' && value !== null;
}

/** JSON of which there may be much: a structured clone takes several times as long. Its depth was bounded when it was read. */
function copyOf(value: JsonValue): JsonValue {
  if (!isHolder(value)) return value;
  if (Array.isArray(value)) return value.map(copyOf);
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) define(copy, name, copyOf(value[name] as JsonValue));
  return copy;
}

/** Assigned, but for what would not be a member then. */
function define(holder: Json, step: string | number, value: JsonValue): void {
  if (step !== '__proto__') {
    (holder as Record<string | number, JsonValue>)[step] = value;
    return;
  }
  Object.defineProperty(holder, step, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** What a text is as JSON, when it is an object or a list. */
export function jsonIn(text: string): Json | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return readJsonText(text, jsonBounds.request) as Json;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}
