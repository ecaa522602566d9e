import type { JsonObject } from '@sluice/contracts';
import { arrayOf, objectOf, stringOf } from '../json/json-access.ts';
import { textPieces } from './pieces.ts';

/** A message as its events; undefined when the JSON is not a message. */
export function replayMessage(reply: JsonObject): Buffer[] | undefined {
  const content = arrayOf(reply.content);
  if (content === undefined || reply.type !== 'message') return undefined;
  const { stop_reason = null, stop_sequence = null, usage, ...rest } = reply;
  // Readers of the format count on a usage in both places.
  const counts = objectOf(usage) ?? { input_tokens: 0, output_tokens: 0 };
  const delta: JsonObject = { stop_reason, stop_sequence };
  // Clients read these from here, and forget what the start said.
  for (const key of ['container', 'stop_details']) if (rest[key] != null) delta[key] = rest[key];
  const message = {
    ...rest,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...counts, output_tokens: 0 },
  };
  return [
    messageEvent('message_start', { message }),
    ...content.flatMap((block, index) => blockEvents(objectOf(block) ?? {}, index)),
    messageEvent('message_delta', { delta, usage: counts }),
    messageEvent('message_stop', {}),
  ];
}

function blockEvents(block: JsonObject, index: number): Buffer[] {
  const { start, deltas } = blockParts(block);
  return [
    messageEvent('content_block_start', { index, content_block: start }),
    ...deltas.map((delta) => messageEvent('content_block_delta', { index, delta })),
    messageEvent('content_block_stop', { index }),
  ];
}

/** What a block begins with and what follows. A kind we do not know is whole from the start. */
function blockParts(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  if (block.type === 'text') return textParts(block);
  if (block.type === 'thinking') return thinkingParts(block);
  const input = objectOf(block.input);
  if (input === undefined) return { start: block, deltas: [] };
  const json = Object.keys(input).length === 0 ? '' : JSON.stringify(input);
  return {
    start: { ...block, input: {} },
    deltas: textPieces(json).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  };
}

function textParts(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const citations = arrayOf(block.citations);
  return {
    start: { ...block, text: '', ...(citations === undefined ? {} : { citations: [] }) },
    deltas: [
      ...(citations ?? []).map((citation) => ({ type: 'citations_delta', citation })),
      ...textPieces(stringOf(block.text) ?? '').map((text) => ({ type: 'text_delta', text })),
    ],
  };
}

function thinkingParts(block: JsonObject): { start: JsonObject; deltas: JsonObject[] } {
  const signature = stringOf(block.signature);
  const deltas: JsonObject[] = textPieces(stringOf(block.thinking) ?? '').map((thinking) => ({
    type: 'thinking_delta',
    thinking,
  }));
  if (signature) deltas.push({ type: 'signature_delta', signature });
  return {
    start: { ...block, thinking: '', ...(signature === undefined ? {} : { signature: '' }) },
    deltas,
  };
}

function messageEvent(type: string, body: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`);
}
