import type { ReplyFacts, StreamFault, StreamReader } from '../contract.ts';
import { empty } from '../framing/stream-tap.ts';

/** A stream of unknown format: any byte is content, and its end is its completion. */
export class RawStreamReader implements StreamReader {
  phase: StreamReader['phase'] = 'preamble';
  readonly facts: ReplyFacts;
  readonly fault: StreamFault | undefined = undefined;
  readonly faultForwarded = false;

  /** `facts`: what the request alone tells. */
  constructor(facts: ReplyFacts = {}) {
    this.facts = facts;
  }

  push(chunk: Buffer): Buffer {
    if (chunk.length > 0) this.phase = 'content';
    return chunk;
  }

  end(): Buffer {
    this.phase = 'complete';
    return empty;
  }

  /** Nothing is known that the caller would understand as an error. */
  errorEvent(): Buffer {
    return empty;
  }
}
