import type { JsonObject, JsonValue } from '@sluice/contracts';
import { objectOf } from '../json/json-access.ts';

export interface ReplayOptions {
  /** The request's `stream_options.include_usage`; only OpenAI's chat and completions ask. */
  includeUsage: boolean;
}

/** Fields that every chunk repeats; the reply's other fields stand in the first chunk alone. */
const repeated = ['id', 'created', 'model', 'provider', 'system_fingerprint', 'service_tier'];

/**
 * Chunks of one of OpenAI's formats, one choice in each. The usage is told
 * once: in a chunk of its own where the caller asked for that, as the format
 * has it, and else in the last chunk, so that cost can be read there.
 */
export function openAiChunks(
  reply: JsonObject,
  object: string,
  choices: JsonObject[],
  { includeUsage }: ReplayOptions,
): Buffer[] {
  const { choices: _, usage, object: __, ...fields } = reply;
  const head: JsonObject = { object };
  const once: JsonObject = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) (repeated.includes(key) ? head : once)[key] = value;
  }
  const counts = objectOf(usage);
  const tellsApart = includeUsage && counts !== undefined;
  const bodies = choices.map((choice): JsonObject => {
    const body: JsonObject = { ...head, choices: [choice] };
    return tellsApart ? { ...body, usage: null } : body;
  });
  if (tellsApart || bodies.length === 0) bodies.push({ ...head, choices: [] });
  Object.assign(bodies[0] as JsonObject, once);
  if (counts !== undefined) Object.assign(bodies.at(-1) as JsonObject, { usage: counts });
  return [...bodies.map(dataEvent), Buffer.from('data: [DONE]\n\n')];
}

function dataEvent(body: JsonValue): Buffer {
  return Buffer.from(`data: ${JSON.stringify(body)}\n\n`);
}
