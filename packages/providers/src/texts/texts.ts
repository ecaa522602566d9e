import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';

/** The texts of a document that hooks look at, and how to put others in their place. */
export interface Texts {
  readonly parts: readonly string[];
  /** All parts as one text. */
  readonly joined: string;
  /**
   * What the parts of each message that stand side by side say as one text, messages on lines of
   * their own: models read them so. Empty where no message has two. Absent = no parts are of a message.
   * @param parts others in their place
   */
  readonly together?: ((parts?: readonly string[]) => string) | undefined;
  /** The whole document with these instead of `parts`, one for each; null keeps the original. */
  replace(parts: readonly (string | null)[]): JsonObject;
}

/** Of a document that has none, or another shape than its format's. */
export function noTexts(document: JsonObject): Texts {
  return { parts: [], joined: '', replace: () => document };
}

/** Of a text, a list of texts, or a list of parts of which some are text; `put` makes the document of another. */
export function contentTexts(
  value: JsonValue | undefined,
  separator: string,
  put: (value: JsonValue) => JsonObject,
): Texts {
  if (typeof value === 'string')
    return { parts: [value], joined: value, replace: ([part]) => put(part ?? value) };
  const items = arrayOf(value) ?? [];
  const parts: string[] = [];
  const places: number[] = [];
  for (const [place, item] of items.entries()) {
    const text = textOfItem(item);
    if (text === undefined) continue;
    parts.push(text);
    places.push(place);
  }
  return {
    parts,
    joined: parts.join(separator),
    together: (others = parts) => runsOf(others, (at) => places[at + 1] === (places[at] ?? 0) + 1),
    replace(replaced) {
      let next = 0;
      return put(
        items.map((item) => {
          if (textOfItem(item) === undefined) return item;
          const text = replaced[next++] ?? null;
          if (text === null) return item;
          return typeof item === 'string' ? text : { ...(item as JsonObject), text };
        }),
      );
    },
  };
}

/** Parts that go on in the next one, as one text each; all others are left out. */
export function runsOf(parts: readonly string[], goesOn: (at: number) => boolean): string {
  const runs: string[] = [];
  let run: string | undefined;
  for (const [at, part] of parts.entries()) {
    const isFollowed = at + 1 < parts.length && goesOn(at);
    if (run !== undefined) run += part;
    else if (isFollowed) run = part;
    if (isFollowed || run === undefined) continue;
    runs.push(run);
    run = undefined;
  }
  return runs.join('\n');
}

function textOfItem(item: JsonValue): string | undefined {
  if (typeof item === 'string') return item;
  const part = objectOf(item);
  if (part === undefined || !textTypes.has(part.type)) return undefined;
  return typeof part.text === 'string' ? part.text : undefined;
}

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

/** Of the last of a request's messages: what is asked now. */
export function lastMessageTexts(request: JsonObject): Texts {
  const messages = arrayOf(request.messages);
  const last = objectOf(messages?.at(-1));
  if (messages === undefined || last === undefined) return noTexts(request);
  return contentTexts(last.content, '\n', (content) => ({
    ...request,
    messages: [...messages.slice(0, -1), { ...last, content }],
  }));
}
