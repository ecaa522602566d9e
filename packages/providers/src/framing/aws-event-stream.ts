/**
 * The binary framing of AWS's streams: cut into frames here, both checksums
 * checked; what a frame means is said by who opens the unframer.
 * https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
import { GrowingBytes } from '@sluice/json';
import type { StreamFault, Unframer } from '../contract.ts';
import { type AwsFrame, frameBytes, preludeBytes, readFrame } from './aws-frame.ts';
import { empty, invalidStream } from './stream-tap.ts';

/** A frame as server-sent events; undefined when it is not what the format has. */
export type FrameWriter = (
  frame: AwsFrame,
) => { bytes: Buffer; fault?: StreamFault | undefined } | undefined;

export class AwsEventStreamUnframer implements Unframer {
  fault: StreamFault | undefined;
  #write: FrameWriter;
  #held = new GrowingBytes();
  /** How much must be there before anything can be read: a prelude, then its frame. */
  #wantedBytes = preludeBytes;

  constructor(write: FrameWriter) {
    this.#write = write;
  }

  push(chunk: Buffer): Buffer {
    if (this.fault !== undefined || chunk.length === 0) return empty;
    this.#held.add(chunk);
    // Frames may come in thousands of pieces: they are joined once they are whole.
    if (this.#held.length < this.#wantedBytes) return empty;
    const bytes = this.#held.take();
    const out: Buffer[] = [];
    const rest = bytes.subarray(this.#readAll(bytes, out));
    this.#held.add(rest);
    return out.length === 1 ? (out[0] as Buffer) : Buffer.concat(out);
  }

  /** A frame left unfinished is a stream that was cut: whoever reads the events sees that no end came. */
  end(): Buffer {
    return empty;
  }

  /** Writes every whole frame; returns where the first unfinished one begins. */
  #readAll(bytes: Buffer, out: Buffer[]): number {
    let start = 0;
    while (bytes.length - start >= preludeBytes) {
      const length = frameBytes(bytes.subarray(start, start + preludeBytes));
      if (length === undefined) return this.#fail(bytes);
      if (bytes.length - start < length) {
        this.#wantedBytes = length;
        return start;
      }
      const frame = readFrame(bytes.subarray(start, start + length));
      const written = frame === undefined ? undefined : this.#write(frame);
      if (written === undefined) return this.#fail(bytes);
      if (written.bytes.length > 0) out.push(written.bytes);
      start += length;
      if (written.fault !== undefined) {
        this.fault = written.fault;
        return bytes.length;
      }
    }
    this.#wantedBytes = preludeBytes;
    return start;
  }

  #fail(bytes: Buffer): number {
    this.fault = invalidStream('The provider sent bytes that are not its event stream.');
    return bytes.length;
  }
}

/** One server-sent event; line ends inside the data are kept as the framing wants them. */
export function sseEvent(name: string, data: string): Buffer {
  const lines =
    data.includes('\n') || data.includes('\r') ? data.replace(/\r\n?|\n/g, '\ndata: ') : data;
  return Buffer.from(`event: ${name.replace(/[^\w-]/g, '')}\ndata: ${lines}\n\n`);
}
