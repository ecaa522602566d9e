import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf, stringOf } from '../json/json-access.ts';
import { openAiChunks, type ReplayOptions } from './openai-chunks.ts';
import { textPieces } from './pieces.ts';

/** A chat completion as its chunks; undefined when the JSON has no choices. */
export function replayChat(reply: JsonObject, options: ReplayOptions): Buffer[] | undefined {
  const choices = arrayOf(reply.choices);
  if (choices === undefined) return undefined;
  const chunks = choices.flatMap((value, position) => choiceChunks(objectOf(value), position));
  return openAiChunks(reply, 'chat.completion.chunk', chunks, options);
}

function choiceChunks(choice: JsonObject | undefined, position: number): JsonObject[] {
  const { message, index: given, logprobs = null, finish_reason, ...rest } = choice ?? {};
  const index = numberOf(given) ?? position;
  const deltas = messageDeltas(objectOf(message) ?? {});
  // Probabilities belong to words: they come with the first ones there are.
  const first = deltas.findIndex((delta) => delta.content || delta.refusal);
  const chunks = deltas.map(
    (delta, order): JsonObject => ({
      index,
      delta,
      logprobs: order === first ? logprobs : null,
      finish_reason: null,
    }),
  );
  // A whole reply has ended, also where a provider does not say why.
  const last: JsonObject = { ...rest, index, delta: {}, finish_reason: finish_reason ?? 'stop' };
  return [...chunks, { ...last, logprobs: first === -1 ? logprobs : null }];
}

/** The opening delta carries role and unknown fields whole; then reasoning, text, refusal, calls. */
function messageDeltas(message: JsonObject): JsonObject[] {
  const {
    role = 'assistant',
    content = null,
    refusal,
    tool_calls,
    function_call,
    ...other
  } = message;
  const { reasoning_content, reasoning, content_blocks, ...rest } = other;
  const text = stringOf(content);
  const blocks = arrayOf(content_blocks);
  const opening: JsonObject = { role, content: text === undefined ? content : '', ...rest };
  if (refusal === null) opening.refusal = null;
  return [
    opening,
    ...stringDeltas('reasoning_content', reasoning_content),
    ...stringDeltas('reasoning', reasoning),
    ...(blocks === undefined
      ? textPieces(text ?? '').map((piece) => ({ role, content: piece }))
      : blockDeltas(blocks, text ?? '', role)),
    ...stringDeltas('refusal', refusal),
    ...(arrayOf(tool_calls) ?? []).flatMap((call, index) =>
      inTwo(objectOf(call) ?? {}).map((part) => ({ tool_calls: [{ ...part, index }] })),
    ),
    ...callInTwo(objectOf(function_call), 'arguments').map((part) => ({ function_call: part })),
  ];
}

function stringDeltas(field: string, value: JsonValue | undefined): JsonObject[] {
  return textPieces(stringOf(value) ?? '').map((piece) => ({ [field]: piece }));
}

/** A tool call: first who is called, then with what. */
function inTwo(call: JsonObject): JsonObject[] {
  const { function: called, custom, ...rest } = call;
  if (custom !== undefined)
    return withRest(rest, 'custom', callInTwo(objectOf(custom) ?? {}, 'input'));
  return withRest(rest, 'function', callInTwo(objectOf(called) ?? {}, 'arguments'));
}

function withRest(rest: JsonObject, kind: string, parts: JsonObject[]): JsonObject[] {
  return parts.map((part, order) => (order === 0 ? { ...rest, [kind]: part } : { [kind]: part }));
}

function callInTwo(call: JsonObject | undefined, payload: 'arguments' | 'input'): JsonObject[] {
  if (call === undefined) return [];
  const { [payload]: value, ...rest } = call;
  return [{ ...rest, [payload]: '' }, { [payload]: stringOf(value) ?? '' }];
}

/** `content_blocks` in the form streams of non-strict callers have; text comes in both spellings. */
function blockDeltas(blocks: JsonValue[], text: string, role: JsonValue): JsonObject[] {
  const told = blocks.map(textOfBlock).join('') === text;
  const deltas: JsonObject[] = told
    ? []
    : textPieces(text).map((piece) => ({ role, content: piece }));
  for (const [index, value] of blocks.entries())
    for (const delta of oneBlock(objectOf(value) ?? {})) {
      const content_blocks = [{ index, delta }];
      deltas.push(
        told && delta.text !== undefined
          ? { role, content: delta.text, content_blocks }
          : { content_blocks },
      );
    }
  return deltas;
}

function textOfBlock(value: JsonValue): string {
  const block = objectOf(value);
  return block?.type === 'text' ? (stringOf(block.text) ?? '') : '';
}

function oneBlock(block: JsonObject): JsonObject[] {
  switch (block.type) {
    case 'text':
      return [
        ...(arrayOf(block.citations) ?? []).map((citation) => ({ citation })),
        ...inPieces('text', block.text),
      ];
    case 'thinking':
      return [
        ...inPieces('thinking', block.thinking),
        ...(block.signature === undefined ? [] : [{ signature: block.signature }]),
      ];
    case 'redacted_thinking':
      return [{ data: block.data ?? '' }];
    default:
      return [block];
  }
}

/** An empty text is told too: it is a block of the reply. */
function inPieces(field: string, value: JsonValue | undefined): JsonObject[] {
  const pieces = textPieces(stringOf(value) ?? '');
  return (pieces.length === 0 ? [''] : pieces).map((piece) => ({ [field]: piece }));
}
