import { type AnsweringFormat, type CallerFormat, operations } from '@sluice/contracts';
import type { ParametersOf } from '@sluice/contracts/checks';
import { arrayOf, type JsonObject, type JsonValue, objectOf } from '@sluice/providers';
import type { CheckContext, CheckFunction } from '../check.ts';

type Prefix = ParametersOf<'default.addPrefix'>;

/** Puts a text before the first message of a role, or before the prompt. Never fails a request. */
export function addPrefix(parameters: Prefix): CheckFunction {
  const { prefix, applyToRole } = parameters;
  return (context) => {
    const request = context.event === 'beforeRequest' ? prefixed(context, parameters) : undefined;
    const explanation = request === undefined ? 'Nothing was added.' : 'The prefix was added.';
    return {
      verdict: true,
      data: { verdict: true, explanation, prefix, applyToRole },
      ...(request === undefined ? {} : { request }),
    };
  };
}

type Prefixer = (request: JsonObject, prefix: Prefix) => JsonObject | undefined;

/** One for each format of conversations that hooks see. */
const prefixers: Readonly<Record<AnsweringFormat, Prefixer>> = {
  'openai-chat': prefixedMessages,
  'openai-completions': prefixedPrompt,
  'openai-responses': prefixedInput,
  'anthropic-messages': (request, prefix) =>
    prefix.applyToRole === 'system'
      ? prefixedSystem(request, prefix)
      : prefixedMessages(request, prefix),
};

/** The request with the prefix; undefined when nothing is to be added. */
function prefixed({ endpoint, request }: CheckContext, prefix: Prefix): JsonObject | undefined {
  const { format } = operations[endpoint];
  return (prefixers as Partial<Record<CallerFormat, Prefixer>>)[format]?.(request, prefix);
}

function prefixedMessages(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  const messages = arrayOf(request.messages);
  if (messages === undefined) return undefined;
  const added = { role: prefix.applyToRole, content: prefix.prefix };
  const at = messages.findIndex((message) => objectOf(message)?.role === prefix.applyToRole);
  if (at === -1)
    return {
      ...request,
      messages: prefix.applyToRole === 'system' ? [added, ...messages] : [...messages, added],
    };
  const message = objectOf(messages[at]) ?? {};
  if (prefix.onlyIfEmpty && !isEmpty(message.content)) return undefined;
  if (!prefix.addToExisting)
    return { ...request, messages: [...messages.slice(0, at), added, ...messages.slice(at)] };
  const changed = { ...message, content: prefixedContent(message.content, prefix.prefix) };
  return { ...request, messages: messages.with(at, changed) };
}

/** Anthropic's system prompt stands beside the messages. There is only one, so it is always added to. */
function prefixedSystem(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  if (prefix.onlyIfEmpty && !isEmpty(request.system)) return undefined;
  return { ...request, system: prefixedContent(request.system, prefix.prefix) };
}

/** Instructions are the system prompt here; an input that is a text is the user's. */
function prefixedInput(request: JsonObject, prefix: Prefix): JsonObject | undefined {
  if (prefix.applyToRole === 'system') {
    if (prefix.onlyIfEmpty && !isEmpty(request.instructions)) return undefined;
    return { ...request, instructions: prefixedContent(request.instructions, prefix.prefix) };
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
  if (typeof prompt === 'string') return { ...request, prompt: prefix.prefix + prompt };
  const prompts = arrayOf(prompt);
  if (prompts === undefined || !prompts.every((item) => typeof item === 'string')) return undefined;
  return { ...request, prompt: prompts.map((item) => prefix.prefix + item) };
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
