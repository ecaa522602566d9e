import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { WireFormat } from '../contract.ts';
import { arrayOf, numberOf, objectOf } from '../json/json-access.ts';

/**
 * How a model is asked to continue: `prefill` = its answer is begun for it,
 * `instruction` = it is told in words, `anew` = nothing was said that it could go on from.
 */
export type ContinuationWay = 'prefill' | 'instruction' | 'anew';

/** Whether a stream that was asked for so can be continued: one answer, in words. */
export function isContinuable(format: WireFormat, { n, modalities }: JsonObject): boolean {
  const isSpoken = arrayOf(modalities)?.includes('audio') === true;
  return format in writers && !isSpoken && (numberOf(n) ?? 1) === 1;
}

/** The caller's request, which asks for what is still missing of the answer. */
export function continuedRequest(
  format: WireFormat,
  body: JsonObject,
  told: string,
  way: ContinuationWay,
): JsonObject {
  const write = writers[format];
  if (write === undefined || way === 'anew') return body;
  const left = withinLimits(body, told, way);
  // What is prefilled may not end in blanks, and thinking stands before an answer, not within it.
  if (way === 'prefill') return write(left, told.trimEnd(), undefined, true);
  return write(left, told, instructionFor(told), false);
}

/** With what its limit of tokens leaves for the rest. */
function withinLimits(body: JsonObject, told: string, way: ContinuationWay): JsonObject {
  const again = way === 'instruction' ? repeatedTokensMax : 0;
  const spent = Math.ceil(told.length / charactersPerToken) - again;
  const left = { ...body };
  for (const name of limitNames) {
    const limit = numberOf(body[name]);
    if (limit !== undefined) left[name] = Math.max(limit - spent, limitMin + again);
  }
  const budget = numberOf(objectOf(body.thinking)?.budget_tokens);
  const limit = numberOf(left.max_tokens);
  if (way === 'instruction' && budget !== undefined && limit !== undefined)
    left.max_tokens = Math.max(limit, budget + limitMin + again);
  return left;
}

const limitNames = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;
/** OpenAI's responses take no less: https://platform.openai.com/docs/api-reference/responses/create */
const limitMin = 16;
/** More than there are in most texts: an answer that is allowed too little loses its end. */
const charactersPerToken = 5;
/** Half of its characters are more than its tokens in any language that is written with blanks. */
const repeatedTokensMax = 40;

/** Of what was told so much the model is not shown, which it may therefore say again. */
export function unseenLength(told: string, way: ContinuationWay): number {
  if (way === 'anew') return told.length;
  return way === 'prefill' ? told.length - told.trimEnd().length : 0;
}

type Writer = (
  body: JsonObject,
  told: string,
  instruction: string | undefined,
  withoutThinking: boolean,
) => JsonObject;

const writers: Partial<Record<WireFormat, Writer>> = {
  'openai-chat': (body, told, instruction, withoutThinking) => {
    const { response_format: _shape, reasoning_effort, ...rest } = body;
    return {
      ...rest,
      ...(!withoutThinking && reasoning_effort !== undefined && { reasoning_effort }),
      messages: withTurns(arrayOf(body.messages) ?? [], told, instruction),
    };
  },
  'anthropic-messages': (body, told, instruction, withoutThinking) => {
    const { output_format: _shape, thinking, output_config, ...rest } = body;
    const { format: _format, effort, ...config } = objectOf(output_config) ?? {};
    const kept = { ...config, ...(!withoutThinking && effort !== undefined && { effort }) };
    return {
      ...rest,
      ...(!withoutThinking && thinking !== undefined && { thinking }),
      ...(Object.keys(kept).length > 0 && { output_config: kept }),
      messages: withTurns(arrayOf(body.messages) ?? [], told, instruction),
    };
  },
  'openai-responses': (body, told, instruction, withoutThinking) => {
    const { text, reasoning, ...rest } = body;
    const { format: _format, ...kept } = objectOf(text) ?? {};
    const { input } = body;
    const items = typeof input === 'string' ? [{ role: 'user', content: input }] : arrayOf(input);
    return {
      ...rest,
      ...(Object.keys(kept).length > 0 && { text: kept }),
      ...(!withoutThinking && reasoning !== undefined && { reasoning }),
      input: withTurns(items ?? [], told, instruction),
    };
  },
};

/** The conversation with the answer as far as it came, and the word to go on. */
function withTurns(
  turns: readonly JsonValue[],
  told: string,
  instruction: string | undefined,
): JsonValue[] {
  const last = objectOf(turns[turns.length - 1]);
  // A caller may have begun the answer itself.
  const isBegun = last?.role === 'assistant' && typeof last.content === 'string';
  const begun = isBegun ? `${String(last.content)}${told}` : told;
  const before = isBegun ? turns.slice(0, -1) : turns;
  const answer = { role: 'assistant', content: begun };
  return instruction === undefined
    ? [...before, answer]
    : [...before, answer, { role: 'user', content: instruction }];
}

/**
 * It is to repeat a few words: then the place where both meet is certain, and
 * the blank between two words is not lost.
 */
function instructionFor(told: string): string {
  const tail = lastWords(told);
  return [
    'Your last message was cut off on its way; I have all that you see of it.',
    'Continue it from exactly where it stops, as if it had never been interrupted: no greeting, no comment, no summary, no new formatting.',
    `Begin by repeating its very last words, character for character, and go straight on: ${JSON.stringify(tail)}`,
  ].join('\n');
}

/** From the beginning of a word on. */
export function lastWords(told: string): string {
  const tail = told.slice(-tailLength);
  if (tail.length === told.length) return tail;
  const blank = /\s\S/.exec(tail.slice(0, tailLength / 2));
  return blank === null ? tail : tail.slice(blank.index + 1);
}

const tailLength = 80;
