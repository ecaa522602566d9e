import { arrayOf, type JsonObject, type JsonValue, objectOf } from '@sluice/providers';
import type { CheckContext, CheckKind } from '../check.ts';
import { flag, optionalText, requiredText } from '../parameters.ts';

interface Prefix {
  text: string;
  role: string;
  /** Into the message; otherwise as a message of its own before it. */
  addToExisting: boolean;
  /** Leaves messages that have content alone. */
  onlyIfEmpty: boolean;
}

/** Puts a text before the first message of a role, or before the prompt. Never fails a request. */
export const addPrefix: CheckKind = {
  id: 'default.addPrefix',
  compile(parameters) {
    const prefix: Prefix = {
      text: requiredText(parameters, 'prefix'),
      role: optionalText(parameters, 'applyToRole', 'user'),
      addToExisting: flag(parameters, 'addToExisting', true),
      onlyIfEmpty: flag(parameters, 'onlyIfEmpty'),
    };
    return (context) => {
      const request = context.event === 'beforeRequest' ? prefixed(context, prefix) : undefined;
      const explanation = request === undefined ? 'Nothing was added.' : 'The prefix was added.';
      return {
        verdict: true,
        data: { verdict: true, explanation, prefix: prefix.text, applyToRole: prefix.role },
        ...(request === undefined ? {} : { request }),
      };
    };
  },
};

/** The request with the prefix; undefined when nothing is to be added. */
function prefixed({ endpoint, request }: CheckContext, prefix: Prefix): JsonObject | undefined {
  switch (endpoint) {
    case 'chatComplete':
      return prefixedMessages(request, prefix);
    case 'messages':
      return prefix.role === 'system'
        ? prefixedSystem(request, prefix)
        : prefixedMessages(request, prefix);
    case 'createModelResponse':
      return prefixedInput(request, prefix);
    case 'complete':
      return prefixedPrompt(request, prefix);
    default:
      return undefined;
  }
}

function prefixedMessages(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  const messages = arrayOf(request.messages);
  if (messages === undefined) return undefined;
  const added = { role: prefix.role, content: prefix.text };
  const at = messages.findIndex((message) => objectOf(message)?.role === prefix.role);
  if (at === -1)
    return {
      ...request,
      messages: prefix.role === 'system' ? [added, ...messages] : [...messages, added],
    };
  const message = objectOf(messages[at]) ?? {};
  if (prefix.onlyIfEmpty && !isEmpty(message.content)) return undefined;
  if (!prefix.addToExisting)
    return { ...request, messages: [...messages.slice(0, at), added, ...messages.slice(at)] };
  const changed = { ...message, content: prefixedContent(message.content, prefix.text) };
  return { ...request, messages: messages.with(at, changed) };
}

/** Anthropic's system prompt stands beside the messages. There is only one, so it is always added to. */
function prefixedSystem(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  if (prefix.onlyIfEmpty && !isEmpty(request.system)) return undefined;
  return { ...request, system: prefixedContent(request.system, prefix.text) };
}

/** Instructions are the system prompt here; an input that is a text is the user's. */
function prefixedInput(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  if (prefix.role === 'system') {
    if (prefix.onlyIfEmpty && !isEmpty(request.instructions)) return undefined;
    return { ...request, instructions: prefixedContent(request.instructions, prefix.text) };
  }
  const { input } = request;
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const changed = messages === undefined ? undefined : prefixedMessages({ messages }, prefix);
  return changed?.messages === undefined ? undefined : { ...request, input: changed.messages };
}

/** A list of texts is as many prompts; one of tokens cannot be added to. */
function prefixedPrompt(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  const { prompt } = request;
  if (prefix.onlyIfEmpty && !isEmpty(prompt)) return undefined;
  if (typeof prompt === 'string') return { ...request, prompt: prefix.text + prompt };
  const prompts = arrayOf(prompt);
  if (prompts === undefined || !prompts.every((item) => typeof item === 'string')) return undefined;
  return { ...request, prompt: prompts.map((item) => prefix.text + item) };
}

function prefixedContent(content: JsonValue | undefined, text: string): JsonValue {
  const parts = arrayOf(content);
  if (parts === undefined) return text + (typeof content === 'string' ? content : '');
  const at = parts.findIndex((part) => /^(?:input_)?text$/.test(String(objectOf(part)?.type)));
  // Parts of one list are of one format, which prefixes its types or does not.
  const type = parts.some((part) => /^input_/.test(String(objectOf(part)?.type)))
    ? 'input_text'
    : 'text';
  if (at === -1) return [{ type, text }, ...parts];
  const part = objectOf(parts[at]) ?? {};
  return parts.with(at, { ...part, text: text + (typeof part.text === 'string' ? part.text : '') });
}

function isEmpty(content: JsonValue | undefined): boolean {
  if (content === undefined || content === null || content === '') return true;
  return Array.isArray(content) && content.length === 0;
}
