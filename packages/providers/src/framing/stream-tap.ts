import type { ChatUsage, ReplyUnits } from '@sluice/contracts';
import { mergeUnits } from '../bills/add-bill.ts';
import type { ToolUnit } from '../bills/charged-tools.ts';
import { laterUsage } from '../bills/later-usage.ts';
import type { ReplyFacts, StreamFault, StreamReader } from '../contract.ts';
import type { parseObject } from '../json/json-access.ts';
import type { SseEvent } from './sse.ts';

/** What a stream has told so far; taps write it, the reader shows it. */
export class StreamState {
  phase: StreamReader['phase'] = 'preamble';
  facts: ReplyFacts = {};
  fault: StreamFault | undefined;
  /** Its usage was told when the answer began: what came out is not counted in it yet. */
  isHalfTold = false;
  /** Tools that parts of the answer show to be used. */
  #seen: ReplyUnits | undefined;

  fail(fault: StreamFault): void {
    this.phase = 'failed';
    this.fault = fault;
  }

  get isOver(): boolean {
    return this.phase === 'complete' || this.phase === 'failed';
  }

  /** @param usage of all so far */
  tellUsage(usage: ChatUsage): ChatUsage {
    const known = laterUsage(this.facts.usage, usage);
    this.facts.usage = known;
    return known;
  }

  see(unit: ToolUnit | undefined): void {
    if (unit !== undefined) this.#seen = { ...this.#seen, [unit]: (this.#seen?.[unit] ?? 0) + 1 };
  }

  /** @param saidBytes what was said, which counts where usage does not say all of it, as do the tools that were seen */
  factsWith(saidBytes: number): ReplyFacts {
    const { facts } = this;
    const isTold = facts.usage !== undefined && !this.isHalfTold && this.phase === 'complete';
    facts.saidBytes = isTold ? undefined : saidBytes;
    if (isTold || this.#seen === undefined) return facts;
    return { ...facts, units: mergeUnits(facts.units ?? {}, this.#seen) };
  }
}

/** A format's eyes on a native stream. */
export interface StreamTap {
  /** The format has no markers that tell where there is something to learn: every event is read. */
  readonly readsAll?: boolean;
  /** Events that are larger without their long texts pass by unread; `SSE_EVENT_BYTES_MAX` when absent. */
  readonly eventBytesMax?: number;
  /** Stands in the names of events that say something; all others tell it again, or nothing. Absent = all may. */
  readonly saying?: string;
  /** Every event of the preamble, then those with a marker. `body` is the event's JSON. */
  read(body: JsonBody, event: SseEvent, state: StreamState): void;
  /** Data that is no JSON object but belongs to the format, e.g. `[DONE]`. */
  readText(data: string, state: StreamState): boolean;
  /** The upstream ended without a terminal event. */
  atEnd(state: StreamState): void;
  errorEvent(fault: StreamFault & { code?: string }): Buffer;
}

export type JsonBody = NonNullable<ReturnType<typeof parseObject>>;

export const invalidStreamType = 'invalid_stream';

/** The fault of a stream that is not the format it should be. */
export function invalidStream(message: string): StreamFault {
  return { type: invalidStreamType, message, status: 502 };
}

export const empty = Buffer.alloc(0);
