import type { ObjectStore } from '@sluice/object-store';
import { away, deleteAll } from '../files/contents.ts';
import { openSegment, sealSegment } from '../files/segments.ts';
import type { LineFacts } from './line-facts.ts';

/** Where a part of a batch's answers lies: whose run wrote it, and which of that run. */
export interface PartAddress {
  readonly batchId: string;
  readonly run: number;
  readonly number: number;
}

/** The answer of a line, as it stands in the output. */
export interface AnsweredLine {
  readonly isError: boolean;
  /** JSON without an end of line. */
  readonly text: string;
  /** For the metrics alone: it is not kept. */
  readonly facts?: LineFacts;
}

/** Answers in the object store, some lines an object, until they are put together as a file. */
export class PartStore {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** @throws GatewayError `file.unavailable` */
  async put(
    address: PartAddress,
    dataKey: Buffer,
    answers: readonly AnsweredLine[],
  ): Promise<void> {
    const text = answers.map(({ isError, text }) => `${isError ? '-' : '+'}${text}\n`).join('');
    const sealed = sealSegment(dataKey, placeOf(address), Buffer.from(text));
    await away(this.#store.put(keyOf(address), sealed, 'application/octet-stream'));
  }

  /** @throws GatewayError `file.unavailable`; an Error when it is gone, or not what was put */
  async get(address: PartAddress, dataKey: Buffer): Promise<AnsweredLine[]> {
    const sealed = await away(this.#store.get(keyOf(address)));
    if (sealed === undefined) throw new Error(`a part of batch ${address.batchId} is gone`);
    return openSegment(dataKey, placeOf(address), sealed)
      .toString('utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => ({ isError: line.startsWith('-'), text: line.slice(1) }));
  }

  deleteAll(batchId: string): Promise<void> {
    return deleteAll(this.#store, `batches/${batchId}/`);
  }
}

function keyOf({ batchId, run, number }: PartAddress): string {
  return `batches/${batchId}/${run}-${number}`;
}

function placeOf({ batchId, run, number }: PartAddress) {
  return { of: `batch ${batchId} ${run}`, index: number, isLast: true };
}
