import type { MadeObject } from '@sluice/contracts';
import { JsonError, jsonBounds, readJson } from '@sluice/json';
import { canonicalFileId, parseSseEvents, SseFramer } from '@sluice/providers';

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
    const id = place
      .split('.')
      .reduce<unknown>((value, member) => (isRecord(value) ? value[member] : undefined), document);
    if ((document.object ?? document.type) !== object || typeof id !== 'string') return [];
    if (id === '' || id.length > idLengthMax) return [];
    const { model } = document;
    const known = kind === 'file' ? canonicalFileId(id) : id;
    return [
      { kind, id: known, model: typeof model === 'string' ? model.slice(0, 1024) : '', made },
    ];
  });
}

/**
 * The documents that the events of a stream tell: a run's or a thread's own, or
 * the response that an event is about. Looks at copies; nothing is held back.
 */
export class DocumentsInStream {
  readonly #framer = new SseFramer();

  push(chunk: Buffer): Record<string, unknown>[] {
    const events = this.#framer.push(chunk);
    if (events === undefined) return [];
    return parseSseEvents(events).flatMap(({ data }) => {
      // Pieces of text are most of a stream, and are no objects.
      if (!data.includes('"object"') || !data.startsWith('{')) return [];
      const document = documentOf(Buffer.from(data));
      const told = isRecord(document?.response) ? document.response : document;
      return told === undefined ? [] : [told];
    });
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
