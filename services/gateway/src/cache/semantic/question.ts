import { measureRequest } from '@sluice/engine';
import type { JsonObject, JsonValue } from '@sluice/providers';
import type { CacheRequest } from '../request.ts';

/** What of a request may be said in other words, and all that may not. */
export interface Question {
  readonly text: string;
  /** The body with a gap where the text stood. */
  readonly rest: JsonObject;
}

/** Why a request is answered by its very words only. */
export type NoQuestion = 'endpoint' | 'no_text' | 'too_many_messages' | 'too_long';

/** As published: longer conversations are about too much for one vector to tell them apart. */
const messagesMax = 4;
/** What embedding models read. */
const tokensMax = 8190;
/** No text of more characters has so few tokens. */
const charsMax = tokensMax * 16;

/**
 * The question is the last thing that the user says. What was said before it,
 * by whomever, and what follows it must be the same to the letter, and so must
 * pictures and everything else beside it: a vector of the whole would hide a
 * small difference behind all that is equal.
 */
export function readQuestion({
  endpoint,
  semantic,
}: Pick<CacheRequest, 'endpoint' | 'semantic'>): Question | NoQuestion {
  if (semantic === undefined) return 'endpoint';
  const { askedJson, bodyBytes } = semantic;
  const question = questionIn(endpoint, askedJson);
  if (typeof question === 'string') return question;
  const isShort =
    question.text.length <= charsMax &&
    measureRequest(askedJson, bodyBytes, 'openai').textTokens <= tokensMax;
  return isShort ? question : 'too_long';
}

function questionIn(endpoint: CacheRequest['endpoint'], json: JsonObject): Question | NoQuestion {
  if (endpoint === 'chatComplete') return lastOfUser(json);
  if (endpoint !== 'complete') return 'endpoint';
  const { prompt } = json;
  return isText(prompt) ? { text: prompt, rest: { ...json, prompt: null } } : 'no_text';
}

function lastOfUser(json: JsonObject): Question | NoQuestion {
  const { messages } = json;
  if (!Array.isArray(messages)) return 'no_text';
  if (messages.length > messagesMax) return 'too_many_messages';
  const at = messages.findLastIndex((message) => isObject(message) && message.role === 'user');
  const message = messages[at];
  if (!isObject(message)) return 'no_text';
  const found = textIn(message.content);
  if (found === undefined) return 'no_text';
  const around = messages.with(at, { ...message, content: found.rest });
  return { text: found.text, rest: { ...json, messages: around } };
}

/** One text; of several, nobody knows where one ends once they are one. */
function textIn(content: JsonValue | undefined): { text: string; rest: JsonValue } | undefined {
  if (isText(content)) return { text: content, rest: null };
  if (!Array.isArray(content)) return undefined;
  const isTextPart = (part: JsonValue) => isObject(part) && part.type === 'text';
  const at = content.findIndex(isTextPart);
  const part = content[at];
  if (!isObject(part) || content.findLastIndex(isTextPart) !== at || !isText(part.text))
    return undefined;
  return { text: part.text, rest: content.with(at, { ...part, text: null }) };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === 'string' && value.trim() !== '';
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
