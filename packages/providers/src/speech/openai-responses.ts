import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, numberOf, objectOf } from '../json/json-access.ts';
import {
  closesAll,
  type HeardEvent,
  type Piece,
  type SpeechFormat,
  silent,
  type VoiceKind,
} from './heard-event.ts';
import { wholePieces } from './whole-pieces.ts';

export const openAiResponsesSpeech: SpeechFormat = {
  hear(event) {
    const type = String(event.type);
    const told = tellings[type.replace(/\.(?:delta|done)$/, '')];
    if (told !== undefined) return told(event, type.endsWith('.done'));
    const item = numberOf(event.output_index) ?? 0;
    switch (type) {
      case 'response.content_part.added':
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.added':
      case 'response.reasoning_summary_part.done':
        return again(partPieces(event.part, item, partOf(event), ['part']), type);
      case 'response.output_item.added':
      case 'response.output_item.done':
        return again(itemPieces(event.item, item, ['item']), type);
      case 'response.output_text.annotation.added':
        return {
          pieces: wholePieces(event.annotation, { kind: 'beside', choice: 0 }, ['annotation']),
        };
      default:
        return responseEvent(event, type);
    }
  },
  repeats: true,
  namesEvents: true,
  place(kind, { text }) {
    const item = ['output', text] as const;
    const [type, field] = items[kind];
    const labels = [{ path: [...item, 'type'], value: type }];
    if (type !== 'message') return { path: [...item, field], labels };
    const part = [...item, 'content', 0] as const;
    const partType = kind === 'said' ? 'output_text' : 'refusal';
    return {
      path: [...part, field],
      labels: [...labels, { path: [...part, 'type'], value: partType }],
    };
  },
  callsAreText: true,
};

const items = {
  said: ['message', 'text'],
  refused: ['message', 'refusal'],
  thought: ['reasoning', 'text'],
  called: ['function_call', 'arguments'],
  written: ['custom_tool_call', 'input'],
  beside: ['annotation', 'text'],
} as const;

/** A field that is told in pieces, and whole in the event that ends it. */
type Telling = (event: JsonObject, isDone: boolean) => HeardEvent;

const tellings: Readonly<Record<string, Telling>> = {
  'response.output_text': telling('said', 'text', 'content'),
  'response.refusal': telling('refused', 'refusal', 'content'),
  'response.reasoning_text': telling('thought', 'text', 'content'),
  'response.reasoning_summary_text': telling('thought', 'text', 'summary'),
  'response.function_call_arguments': telling('called', 'arguments'),
  'response.mcp_call_arguments': telling('called', 'arguments'),
  'response.custom_tool_call_input': telling('written', 'input'),
  'response.code_interpreter_call_code': telling('written', 'code'),
  'response.shell_call_command': telling('written', 'command', 'command'),
};

function telling(
  kind: VoiceKind,
  whole: string,
  list?: 'content' | 'summary' | 'command',
): Telling {
  return (event, isDone) => {
    const item = numberOf(event.output_index) ?? 0;
    const part =
      list === undefined ? undefined : `${list} ${numberOf(event[`${list}_index`]) ?? 0}`;
    const key = keyOf(kind, item, part);
    const field = isDone ? whole : 'delta';
    const text = event[field];
    if (typeof text !== 'string') return silent;
    const named = { key, kind, choice: 0, text, path: [field], drops: [['logprobs']] };
    if (!isDone) return { pieces: text === '' ? [] : [named] };
    return { pieces: [{ ...named, isAgain: true }], closes: (voice) => voice.key === key };
  };
}

function keyOf(kind: VoiceKind, item: number, part: string | undefined): string {
  return `${kind} ${item} ${part ?? ''}`;
}

function partOf(event: JsonObject): string {
  const summary = numberOf(event.summary_index);
  return summary === undefined
    ? `content ${numberOf(event.content_index) ?? 0}`
    : `summary ${summary}`;
}

function again(pieces: Piece[], type: string): HeardEvent {
  if (!type.endsWith('.done')) return { pieces };
  const keys = new Set(pieces.map(({ key }) => key));
  return { pieces, closes: ({ key }) => keys.has(key) };
}

/** One part of a message, or of thinking. */
function partPieces(
  value: JsonValue | undefined,
  item: number,
  part: string,
  path: readonly (string | number)[],
): Piece[] {
  const content = objectOf(value) ?? {};
  const isThinking = /^(?:summary|reasoning)/.test(String(content.type));
  const kind = isThinking ? 'thought' : 'said';
  const told = toldAgain(kind, item, part, content.text, [...path, 'text']);
  // Probabilities quote the words.
  return [
    ...told.map((piece) => ({ ...piece, drops: [[...path, 'logprobs']] })),
    ...toldAgain('refused', item, part, content.refusal, [...path, 'refusal']),
    ...wholePieces(content.annotations, { kind: 'beside', choice: 0 }, [...path, 'annotations']),
  ];
}

function itemPieces(
  value: JsonValue | undefined,
  at: number,
  path: readonly (string | number)[],
): Piece[] {
  const item = objectOf(value) ?? {};
  const parts = (['content', 'summary'] as const).flatMap((list) =>
    (arrayOf(item[list]) ?? []).flatMap((part, index) =>
      partPieces(part, at, `${list} ${index}`, [...path, list, index]),
    ),
  );
  return [
    ...parts,
    ...toldAgain('called', at, undefined, item.arguments, [...path, 'arguments']),
    ...toldAgain('written', at, undefined, item.input, [...path, 'input']),
    ...toldAgain('written', at, undefined, item.code, [...path, 'code']),
    ...calls.flatMap((field) =>
      typeof item[field] === 'object' || field === 'revised_prompt'
        ? wholePieces(item[field], { kind: 'written', choice: 0 }, [...path, field])
        : [],
    ),
  ];
}

/** What further tools are called with, which comes whole: shells, patches, computers, searches, pictures. */
const calls = ['action', 'actions', 'operation', 'queries', 'arguments', 'revised_prompt'] as const;

function toldAgain(
  kind: VoiceKind,
  item: number,
  part: string | undefined,
  text: JsonValue | undefined,
  path: readonly (string | number)[],
): Piece[] {
  if (typeof text !== 'string' || text === '') return [];
  return [{ key: keyOf(kind, item, part), kind, choice: 0, text, path, isAgain: true }];
}

/** `response.completed` and its like have all that was said. */
function responseEvent(event: JsonObject, type: string): HeardEvent {
  const response = objectOf(event.response);
  if (response === undefined) return silent;
  const pieces = (arrayOf(response.output) ?? []).flatMap((item, index) =>
    itemPieces(item, index, ['response', 'output', index]),
  );
  if (!/\.(?:completed|incomplete|failed)$/.test(type)) return { pieces };
  return { pieces, closes: closesAll, isEnd: true };
}
