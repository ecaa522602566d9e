import type { JsonObject, JsonValue } from '@sluice/contracts';
import { numberOf, objectOf } from '../json/json-access.ts';
import { closesAll, type Piece, type SpeechFormat, silent } from './heard-event.ts';
import { wholePieces } from './whole-pieces.ts';

export const anthropicMessagesSpeech: SpeechFormat = {
  hear(event) {
    const index = numberOf(event.index) ?? 0;
    switch (event.type) {
      case 'content_block_start':
        return { pieces: begun(objectOf(event.content_block) ?? {}, index) };
      case 'content_block_delta':
        return { pieces: added(objectOf(event.delta) ?? {}, index) };
      case 'content_block_stop':
        return { pieces: [], closes: ({ key }) => key.endsWith(` ${index}`) };
      case 'message_delta':
        return { pieces: [], closes: closesAll };
      case 'message_stop':
        return { pieces: [], closes: closesAll, isEnd: true };
      case 'ping':
        return { pieces: [], isPing: true };
      default:
        return silent;
    }
  },
  repeats: false,
  namesEvents: true,
  place(kind, { text }) {
    const [type, field] = blocks[kind];
    return {
      path: ['content', text, field],
      labels: [{ path: ['content', text, 'type'], value: type }],
    };
  },
  callsAreText: false,
};

const blocks = {
  said: ['text', 'text'],
  refused: ['text', 'text'],
  thought: ['thinking', 'thinking'],
  called: ['tool_use', 'input'],
  written: ['tool_use', 'input'],
  beside: ['citation', 'cited_text'],
} as const;

/** A block may begin with words, and a vendor's own tools with all that they are called with. */
function begun(block: JsonObject, index: number): Piece[] {
  const path = ['content_block'];
  if (block.type === 'text') return piece('said', index, block.text, [...path, 'text']);
  if (block.type === 'thinking')
    return piece('thought', index, block.thinking, [...path, 'thinking']);
  return wholePieces(block.input, { kind: 'written', choice: 0 }, [...path, 'input']);
}

function added(delta: JsonObject, index: number): Piece[] {
  switch (delta.type) {
    case 'text_delta':
      return piece('said', index, delta.text, ['delta', 'text']);
    case 'thinking_delta':
      return piece('thought', index, delta.thinking, ['delta', 'thinking']);
    case 'input_json_delta':
      return piece('called', index, delta.partial_json, ['delta', 'partial_json']);
    case 'citations_delta':
      return wholePieces(delta.citation, { kind: 'beside', choice: 0 }, ['delta', 'citation']);
    default:
      return [];
  }
}

function piece(
  kind: 'said' | 'thought' | 'called',
  index: number,
  text: JsonValue | undefined,
  path: readonly string[],
): Piece[] {
  if (typeof text !== 'string' || text === '') return [];
  return [{ key: `${kind} ${index}`, kind, choice: 0, text, path }];
}
