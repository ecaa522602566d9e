import { GrowingBytes } from '@sluice/json';
import type { Envelope, StreamFault, Unframer } from '../contract.ts';
import { sseEventBytesMax } from './sse.ts';
import { empty } from './stream-tap.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** For providers that end each event with a line end alone, where a blank line belongs. */
export const linewise: Envelope = { openUnframer: () => new LinewiseUnframer() };

/**
 * Makes every line an event of its own. A stream that has its blank lines
 * already comes out byte for byte as it went in.
 */
class LinewiseUnframer implements Unframer {
  readonly fault: StreamFault | undefined = undefined;
  #held = new GrowingBytes();

  push(chunk: Buffer): Buffer {
    const end = chunk.lastIndexOf(lineFeed) + 1;
    if (end === 0) return this.#hold(chunk);
    this.#held.add(chunk.subarray(0, end));
    const lines = this.#held.take();
    const rest = this.#hold(chunk.subarray(end));
    const events = separated(lines);
    return rest.length === 0 ? events : Buffer.concat([events, rest]);
  }

  end(): Buffer {
    return this.#held.take();
  }

  /** Keeps an unfinished line; one too long to keep goes on as it is. */
  #hold(bytes: Buffer): Buffer {
    if (bytes.length === 0) return empty;
    this.#held.add(bytes);
    return this.#held.length > sseEventBytesMax ? this.end() : empty;
  }
}

/** Whole lines, each with a blank line after it and no other blank lines. */
function separated(lines: Buffer): Buffer {
  const parts: Buffer[] = [];
  let start = 0;
  while (start < lines.length) {
    const end = lines.indexOf(lineFeed, start) + 1;
    const isCrlf = lines[end - 2] === carriageReturn && end - 2 >= start;
    const lineEnd = isCrlf ? end - 2 : end - 1;
    if (lineEnd > start) parts.push(lines.subarray(start, end), lines.subarray(lineEnd, end));
    start = end;
  }
  return Buffer.concat(parts);
}
