import type {
  EndpointEntry,
  ReplyFacts,
  StreamFault,
  StreamReader,
  Unframer,
} from '../contract.ts';
import { empty } from './native-stream.ts';

/** The reader, behind the unframer that the endpoint's envelope wants, if it wants one. */
export function unframed(reader: StreamReader, entry: EndpointEntry): StreamReader {
  const unframer = entry.envelope?.openUnframer?.();
  return unframer === undefined ? reader : new UnframedStreamReader(unframer, reader);
}

/** Takes off the vendor's own framing, and leaves the rest to a reader of server-sent events. */
class UnframedStreamReader implements StreamReader {
  #unframer: Unframer;
  #reader: StreamReader;

  constructor(unframer: Unframer, reader: StreamReader) {
    this.#unframer = unframer;
    this.#reader = reader;
  }

  get phase(): StreamReader['phase'] {
    const { phase } = this.#reader;
    return this.#unframer.fault !== undefined && phase !== 'complete' ? 'failed' : phase;
  }
  get facts(): ReplyFacts {
    return this.#reader.facts;
  }
  get fault(): StreamFault | undefined {
    // The unframer saw the vendor's own words, of which the reader has a translation.
    return this.#unframer.fault ?? this.#reader.fault;
  }
  get faultForwarded(): boolean {
    return this.#reader.faultForwarded;
  }

  push(chunk: Buffer): Buffer {
    // Nothing after a break can make the stream whole again.
    if (this.#unframer.fault !== undefined) return empty;
    return this.#reader.push(this.#unframer.push(chunk));
  }

  end(): Buffer {
    const rest = this.#unframer.end();
    // What broke is not whole, whatever the events before it lead to.
    if (this.#unframer.fault !== undefined) return rest;
    if (rest.length === 0) return this.#reader.end();
    return Buffer.concat([this.#reader.push(rest), this.#reader.end()]);
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return this.#reader.errorEvent(fault);
  }
}
