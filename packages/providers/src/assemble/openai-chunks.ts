import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { SseEvent } from '../framing/sse.ts';
import { arrayOf, numberOf, objectOf, parseObject } from '../json/json-access.ts';
import { GatheredFields } from './fields.ts';

/** Fields that some providers leave empty, or change, from chunk to chunk: the first word counts. */
const headMembers = new Set([
  'id',
  'created',
  'model',
  'provider',
  'system_fingerprint',
  'service_tier',
]);

/** Of the chunk, not of the reply: its kind, its padding, what is read apart. */
const ofTheChunk = new Set(['object', 'obfuscation', 'choices', 'usage', 'x_groq']);

export interface ChunkOptions {
  /** For people to read, and for no client that counts on the usage. */
  readonly mayLackUsage?: boolean;
}

/**
 * The JSON of a stream in one of OpenAI's formats; `assembleChoice` folds the
 * chunks of one choice. Every choice must have ended.
 */
export function assembleChunks(
  events: SseEvent[],
  object: string,
  assembleChoice: (chunks: JsonObject[], index: number) => JsonObject | undefined,
  { mayLackUsage = false }: ChunkOptions,
): JsonObject | undefined {
  const head = new GatheredFields();
  const choices = new Map<number, JsonObject[]>();
  let usage: JsonObject | undefined;
  for (const { data } of events) {
    if (data === '[DONE]') break;
    if (data.trim() === '') continue;
    const chunk = parseObject(data);
    const told = arrayOf(chunk?.choices);
    if (chunk === undefined || told === undefined || !gatherHead(head, chunk)) return undefined;
    for (const [position, value] of told.entries()) {
      const choice = objectOf(value);
      if (choice === undefined) return undefined;
      const index = numberOf(choice.index) ?? position;
      const chunks = choices.get(index);
      if (chunks === undefined) choices.set(index, [choice]);
      else chunks.push(choice);
    }
    usage = objectOf(chunk.usage) ?? objectOf(objectOf(chunk.x_groq)?.usage) ?? usage;
  }
  if ((usage === undefined && !mayLackUsage) || choices.size === 0) return undefined;
  const assembled: JsonValue[] = [];
  for (const index of [...choices.keys()].sort((a, b) => a - b)) {
    const choice = assembleChoice(choices.get(index) ?? [], index);
    if (typeof choice?.finish_reason !== 'string') return undefined;
    assembled.push(choice);
  }
  const { id, created, model, ...rest } = head.values;
  return {
    id,
    object,
    created,
    model,
    ...rest,
    choices: assembled,
    ...(usage && { usage }),
  } as JsonObject;
}

function gatherHead(head: GatheredFields, chunk: JsonObject): boolean {
  for (const key in chunk) {
    const value = chunk[key];
    if (ofTheChunk.has(key) || value === undefined) continue;
    if (key === 'error' && value !== null) return false;
    if (headMembers.has(key)) head.first(key, value);
    else if (!head.same(key, value)) return false;
  }
  return true;
}
