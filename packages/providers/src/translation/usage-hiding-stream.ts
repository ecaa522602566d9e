import { GrowingBytes } from '@sluice/json';
import type { StreamReader } from '../contract.ts';
import { endOfFirstEvent, endOfLastEvent, parseSseEvents } from '../framing/sse.ts';
import { arrayOf, objectOf, parseObject } from '../json/json-access.ts';
import { WrappedStreamReader } from './wrapped-stream.ts';

/**
 * Passes a native stream of completions on by whole events, without the one
 * that has nothing but the usage: the gateway asked for it, and its caller did not.
 */
export function hideUsage(reader: StreamReader): StreamReader {
  return new UsageHidingReader(reader);
}

/** Of an event that is not whole yet; what is larger passes on as it is. */
const heldMax = 64 * 1024;

class UsageHidingReader extends WrappedStreamReader {
  readonly #rest = new GrowingBytes();

  push(chunk: Buffer): Buffer {
    this.#rest.add(this.inner.push(chunk));
    const joined = this.#rest.take();
    const end = endOfLastEvent(joined);
    if (joined.length - end > heldMax) return withoutUsage(joined);
    if (end < joined.length) this.#rest.add(joined.subarray(end));
    return withoutUsage(joined.subarray(0, end));
  }

  end(): Buffer {
    return withoutUsage(Buffer.concat([this.#rest.take(), this.inner.end()]));
  }
}

function withoutUsage(events: Buffer): Buffer {
  if (events.indexOf(usageMark) === -1) return events;
  const kept: Buffer[] = [];
  for (let start = 0; start < events.length; ) {
    const end = endOfFirstEvent(events, start);
    const event = events.subarray(start, end);
    if (!isUsageAlone(event)) kept.push(event);
    start = end;
  }
  return Buffer.concat(kept);
}

/** Where it says no more than null nothing was counted. */
const usageMark = '"usage"';

function isUsageAlone(event: Buffer): boolean {
  if (event.indexOf(usageMark) === -1) return false;
  const [read] = parseSseEvents(event);
  const body = read === undefined ? undefined : parseObject(read.data);
  return arrayOf(body?.choices)?.length === 0 && objectOf(body?.usage) !== undefined;
}
