import type { ObjectStore } from '@sluice/object-store';
import { away } from './contents.ts';
import { openSegment, sealSegment } from './segments.ts';

/**
 * Events of a response that is made in the background, as they were told: some at a time an object, beside the response's content and
 * under its key, so that they go with it. Whoever listens reads them from there, at whichever replica.
 */
export class EventParts {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** @throws GatewayError `file.unavailable` */
  async put(id: string, dataKey: Buffer, index: number, events: Buffer): Promise<void> {
    const sealed = sealSegment(dataKey, placeOf(id, index), events);
    await away(this.#store.put(keyOf(id, index), sealed, 'application/octet-stream'));
  }

  /** Undefined = there is none yet. @throws GatewayError `file.unavailable`; an Error for what is not what was put */
  async get(id: string, dataKey: Buffer, index: number): Promise<Buffer | undefined> {
    const sealed = await away(this.#store.get(keyOf(id, index)));
    return sealed === undefined ? undefined : openSegment(dataKey, placeOf(id, index), sealed);
  }
}

function keyOf(id: string, index: number): string {
  return `files/${id}/events/${String(index).padStart(6, '0')}`;
}

function placeOf(id: string, index: number) {
  return { of: `${id}/events`, index, isLast: false };
}
