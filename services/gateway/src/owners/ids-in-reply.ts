import type { MadeObject } from '@sluice/contracts';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import { parseSseEvents, SseFramer } from '@sluice/providers';
import { objectId } from './object-id.ts';

/** What a reply says was made. */
export interface MadeId {
  readonly kind: MadeObject['kind'];
  readonly id: string;
  /** Which serves it; empty = the reply does not say. */
  readonly model: string;
  /** As its row says it. */
  readonly made: MadeObject;
}

/** A reply of which more must be held to read it is passed on unread. */
export const readBytesMax = 4 * 1024 * 1024;
const idLengthMax = 1024;
/** Of what one reply says of a list. */
const idsMax = 100;

/** The document of a whole reply; undefined = it is none. */
export function documentOf(bytes: Buffer): Record<string, unknown> | undefined {
  try {
    const value = readJson(bytes, jsonBounds.reply) as unknown;
    return isRecord(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

export function idsInDocument(
  document: Record<string, unknown>,
  makes: readonly MadeObject[],
): MadeId[] {
  return makes.flatMap((made) => {
    const { kind, id: place, object } = made;
    if ((document.object ?? document.type) !== object) return [];
    const { model } = document;
    return idsAt(document, place.split('.')).map((id) => ({
      kind,
      id: objectId(kind, id),
      model: typeof model === 'string' ? model.slice(0, 1024) : '',
      made,
    }));
  });
}

function idsAt(value: unknown, [first, ...rest]: readonly string[]): readonly string[] {
  if (first === undefined) {
    const isId = typeof value === 'string' && value !== '' && value.length <= idLengthMax;
    return isId ? [value] : [];
  }
  if (first === '*')
    return Array.isArray(value)
      ? [...new Set(value.flatMap((item: unknown) => idsAt(item, rest)))].slice(0, idsMax)
      : [];
  return isRecord(value) ? idsAt(value[first], rest) : [];
}

const tellsObject = /^\{.*?(?:"object"|"message_(?:start|delta)"|"interaction")/s;

/**
 * The documents that the events of a stream tell: a run's or a thread's own, or
 * the response, message, interaction or session that an event is about. Looks at copies; nothing is held back.
 */
export class DocumentsInStream {
  readonly #framer = new SseFramer({ shortens: true });

  push(chunk: Buffer): Record<string, unknown>[] {
    const events = this.#framer.push(chunk);
    if (events === undefined) return [];
    return parseSseEvents(events).flatMap(({ data }) => {
      // Pieces of text are most of a stream, and are no objects.
      if (!tellsObject.test(data)) return [];
      const document = documentOf(Buffer.from(data));
      const told =
        [document?.response, document?.message, document?.interaction, document?.session].find(
          isRecord,
        ) ?? document;
      return told === undefined ? [] : [told];
    });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
