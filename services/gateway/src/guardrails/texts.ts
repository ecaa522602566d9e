import type { JsonObject, JsonValue } from '@sluice/providers';
import type { HookContext } from './hook-context.ts';

/** The texts of a request or response that checks look at, and how to put others in their place. */
export interface Texts {
  readonly parts: readonly string[];
  /** All parts as one text. */
  readonly joined: string;
  /** The whole document with these instead of `parts`, one for each; null keeps the original. */
  replace(parts: readonly (string | null)[]): JsonObject;
}

/**
 * Of a request: the content of the last message, the prompt, or the embedding's
 * input. Of a response: the first choice, or the text blocks of a message.
 * Whatever has another shape reads as no text.
 */
export function textsOf(context: HookContext): Texts {
  return context.event === 'beforeRequest' ? requestTexts(context) : responseTexts(context);
}

function requestTexts({ endpoint, request }: HookContext): Texts {
  switch (endpoint) {
    case 'chatComplete':
    case 'messages': {
      const messages = arrayOf(request.messages);
      const last = objectOf(messages?.at(-1));
      if (messages === undefined || last === undefined) return noTexts(request);
      return content(last.content, '\n', (value) => ({
        ...request,
        messages: [...messages.slice(0, -1), { ...last, content: value }],
      }));
    }
    case 'complete':
      return content(request.prompt, '\n', (value) => ({ ...request, prompt: value }));
    case 'embed':
      return content(request.input, '\n', (value) => ({ ...request, input: value }));
    default:
      return noTexts(request);
  }
}

function responseTexts({ endpoint, response = {} }: HookContext): Texts {
  // Blocks of one message are one text, cut where the model quotes or calls a tool.
  if (endpoint === 'messages')
    return content(response.content, '', (value) => ({ ...response, content: value }));
  const choices = arrayOf(response.choices);
  const first = objectOf(choices?.[0]);
  if (choices === undefined || first === undefined) return noTexts(response);
  const withFirst = (value: JsonObject) => ({
    ...response,
    choices: [value, ...choices.slice(1)],
  });
  if (endpoint === 'complete')
    return content(first.text, '\n', (value) => withFirst({ ...first, text: value }));
  const message = objectOf(first.message);
  if (message === undefined) return noTexts(response);
  return content(message.content, '\n', (value) =>
    withFirst({ ...first, message: { ...message, content: value } }),
  );
}

/** A text, a list of texts, or a list of parts of which some are text. */
function content(
  value: JsonValue | undefined,
  separator: string,
  put: (value: JsonValue) => JsonObject,
): Texts {
  if (typeof value === 'string')
    return { parts: [value], joined: value, replace: ([part]) => put(part ?? value) };
  const items = arrayOf(value) ?? [];
  const parts: string[] = [];
  for (const item of items) {
    const text = textOfItem(item);
    if (text !== undefined) parts.push(text);
  }
  return {
    parts,
    joined: parts.join(separator),
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

function textOfItem(item: JsonValue): string | undefined {
  if (typeof item === 'string') return item;
  const part = objectOf(item);
  return part?.type === 'text' && typeof part.text === 'string' ? part.text : undefined;
}

function noTexts(document: JsonObject): Texts {
  return { parts: [], joined: '', replace: () => document };
}

export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined;
}

export function arrayOf(value: unknown): JsonValue[] | undefined {
  return Array.isArray(value) ? (value as JsonValue[]) : undefined;
}
