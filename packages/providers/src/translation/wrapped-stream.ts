import type { ReplyFacts, StreamFault, StreamReader } from '../contract.ts';

/** A reader around another, which knows what the stream has told; what is different is which bytes pass on. */
export abstract class WrappedStreamReader implements StreamReader {
  readonly inner: StreamReader;

  constructor(inner: StreamReader) {
    this.inner = inner;
  }

  get phase(): StreamReader['phase'] {
    return this.inner.phase;
  }
  get facts(): ReplyFacts {
    return this.inner.facts;
  }
  get fault(): StreamFault | undefined {
    return this.inner.fault;
  }
  get faultForwarded(): boolean {
    return this.inner.faultForwarded;
  }

  abstract push(chunk: Buffer): Buffer;
  abstract end(): Buffer;

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return this.inner.errorEvent(fault);
  }
}
