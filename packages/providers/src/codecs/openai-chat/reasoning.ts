/**
 * Where compatible providers put what their models thought. OpenAI itself shows
 * none in this format; the others answer in one of these, in whole messages
 * and in deltas alike:
 *
 * - `reasoning_content`: DeepSeek, Moonshot, Zhipu, DashScope, vLLM, xAI …
 * - `reasoning`: Groq, Cerebras, Together, OpenRouter …
 * - `reasoning_details`, a list with signatures and encrypted parts: OpenRouter, MiniMax
 * - `content` as a list with `thinking` chunks: Mistral
 */
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { detailsOf, readDetail, type ThinkingPiece } from './reasoning-details.ts';

/** What was thought, in order; empty when nothing was. */
export function readThinking(message: JsonObject): ThinkingPiece[] {
  const pieces = detailsOf(message).flatMap((detail) => readDetail(detail) ?? []);
  pieces.push(...readChunks(message.content));
  const plain = plainThinking(message);
  // The details repeat the plain text, where there is one.
  const told = pieces.some((piece) => piece.text !== '');
  if (plain && !told) pieces.unshift({ text: plain });
  return pieces;
}

export function plainThinking(message: JsonObject): string | undefined {
  return stringOf(message.reasoning_content) || stringOf(message.reasoning);
}

/** Thoughts among the chunks of a content. */
export function readChunks(content: JsonValue | undefined): ThinkingPiece[] {
  return (arrayOf(content) ?? []).flatMap((chunk) => {
    const text = thinkingOf(objectOf(chunk));
    return text ? [{ text }] : [];
  });
}

/** Mistral's chunk holds text, or a list of text chunks; undefined = it is no thinking. */
function thinkingOf(chunk: JsonObject | undefined): string | undefined {
  if (chunk?.type !== 'thinking') return undefined;
  const whole = stringOf(chunk.thinking);
  if (whole !== undefined) return whole;
  const texts = (arrayOf(chunk.thinking) ?? []).map((part) => stringOf(objectOf(part)?.text) ?? '');
  return texts.join('');
}

/** The text of a delta, which a few providers send as a list of chunks. */
export function textOf(content: JsonValue | undefined): string | undefined {
  const list = arrayOf(content);
  if (list === undefined) return stringOf(content);
  return list
    .map((chunk) => {
      const object = objectOf(chunk);
      return object?.type === 'text' ? (stringOf(object.text) ?? '') : '';
    })
    .join('');
}
