import type { Endpoint, JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';

/** A request, or its response, in the caller's format. */
export interface TextSource {
  readonly event: 'beforeRequest' | 'afterRequest';
  readonly endpoint: Endpoint;
  readonly request: JsonObject;
  /** Undefined before the request. */
  readonly response: JsonObject | undefined;
}

/** The texts of a request or response that checks look at, and how to put others in their place. */
export interface Texts {
  readonly parts: readonly string[];
  /** All parts as one text. */
  readonly joined: string;
  /** The whole document with these instead of `parts`, one for each; null keeps the original. */
  replace(parts: readonly (string | null)[]): JsonObject;
}

/**
 * Of a request: the content of the last message or item, the prompt, or the
 * embedding's input. Of a response: the first choice, the text blocks of a
 * message, or the messages of an output.
 * Whatever has another shape reads as no text.
 */
export function textsOf(context: TextSource): Texts {
  return context.event === 'beforeRequest' ? requestTexts(context) : responseTexts(context);
}

function requestTexts({ endpoint, request }: TextSource): Texts {
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
    case 'createModelResponse':
      return lastItemTexts(request);
    case 'embed':
      return content(request.input, '\n', (value) => ({ ...request, input: value }));
    default:
      return noTexts(request);
  }
}

/** What the caller says last in a list of items: a message, or what a tool returned. */
function lastItemTexts(request: JsonObject): Texts {
  const items = arrayOf(request.input);
  if (items === undefined) return content(request.input, '\n', (input) => ({ ...request, input }));
  const last = objectOf(items.at(-1));
  if (last === undefined) return noTexts(request);
  const field = last.type === 'function_call_output' ? 'output' : 'content';
  return content(last[field], '\n', (value) => ({
    ...request,
    input: [...items.slice(0, -1), { ...last, [field]: value }],
  }));
}

function outputTexts(response: JsonObject): Texts {
  const items = arrayOf(response.output) ?? [];
  const messages = items.map((value) => {
    const item = objectOf(value) ?? {};
    const isMessage = item.type === 'message';
    return isMessage
      ? content(item.content, '', (written) => ({ ...item, content: written }))
      : undefined;
  });
  const parts = messages.flatMap((message) => message?.parts ?? []);
  return {
    parts,
    joined: parts.join(''),
    replace(replaced) {
      let next = 0;
      const output = items.map((item, index) => {
        const message = messages[index];
        if (message === undefined) return item;
        const start = next;
        next += message.parts.length;
        return message.replace(replaced.slice(start, next));
      });
      return { ...response, output };
    },
  };
}

function responseTexts({ endpoint, response = {} }: TextSource): Texts {
  // Blocks of one message are one text, cut where the model quotes or calls a tool.
  if (endpoint === 'messages')
    return content(response.content, '', (value) => ({ ...response, content: value }));
  if (endpoint === 'createModelResponse') return outputTexts(response);
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
  if (part === undefined || !textTypes.has(part.type)) return undefined;
  return typeof part.text === 'string' ? part.text : undefined;
}

const textTypes: ReadonlySet<unknown> = new Set(['text', 'input_text', 'output_text']);

function noTexts(document: JsonObject): Texts {
  return { parts: [], joined: '', replace: () => document };
}
