import type { EndpointEntry, StreamFault, StreamReader, Unframer } from '../contract.ts';
import { ListUnframer } from '../framing/listed-events.ts';
import { empty } from '../framing/stream-tap.ts';
import { WrappedStreamReader } from './wrapped-stream.ts';

/** The reader, behind the unframer that the endpoint's envelope wants, if it wants one. */
export function unframed(reader: StreamReader, entry: EndpointEntry): StreamReader {
  const unframer = entry.envelope?.openUnframer?.();
  return unframer === undefined ? reader : new UnframedStreamReader(unframer, reader);
}

/** The reader, of a stream that is told as one list of JSON. */
export function listed(reader: StreamReader): StreamReader {
  return new UnframedStreamReader(new ListUnframer(), reader);
}

/** Whether JSON is a list, as far as it has come. */
export function isList(bytes: Buffer): boolean {
  return /^\uFEFF?\s*\[/.test(bytes.toString('utf8', 0, 64));
}

/** Takes off the vendor's own framing, and leaves the rest to a reader of server-sent events. */
class UnframedStreamReader extends WrappedStreamReader {
  readonly #unframer: Unframer;

  constructor(unframer: Unframer, reader: StreamReader) {
    super(reader);
    this.#unframer = unframer;
  }

  override get phase(): StreamReader['phase'] {
    const { phase } = this.inner;
    return this.#unframer.fault !== undefined && phase !== 'complete' ? 'failed' : phase;
  }
  override get fault(): StreamFault | undefined {
    // The unframer saw the vendor's own words, of which the reader has a translation.
    return this.#unframer.fault ?? this.inner.fault;
  }

  push(chunk: Buffer): Buffer {
    // Nothing after a break can make the stream whole again.
    if (this.#unframer.fault !== undefined) return empty;
    return this.inner.push(this.#unframer.push(chunk));
  }

  end(): Buffer {
    const rest = this.#unframer.end();
    // What broke is not whole, whatever the events before it lead to.
    if (this.#unframer.fault !== undefined) return rest;
    if (rest.length === 0) return this.inner.end();
    return Buffer.concat([this.inner.push(rest), this.inner.end()]);
  }
}
