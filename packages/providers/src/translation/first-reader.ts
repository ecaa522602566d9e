import type { JsonObject } from '@sluice/contracts';
import type {
  CallContext,
  DecodedReply,
  EncodedRequest,
  EndpointEntry,
  ReplyFacts,
  ReplyHead,
  StreamReader,
  Translation,
  WireFormat,
} from '../contract.ts';

/** What answers at a path that several endpoints share, by whichever of them reads something of it. Streams are those of the first. */
export class FirstReader implements Translation {
  readonly mode = 'native';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  readonly #first: Translation;
  readonly #all: readonly Translation[];

  constructor(first: Translation, all: readonly Translation[]) {
    this.entry = first.entry;
    this.upstreamFormat = first.upstreamFormat;
    this.callerFormat = first.callerFormat;
    this.#first = first;
    this.#all = all;
  }

  encode(): EncodedRequest {
    return { body: undefined, dropped: [] };
  }

  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply {
    return {
      body: undefined,
      facts: this.#firstOf((each) => each.decode(bytes, context, head).facts),
    };
  }

  skim(members: Record<string, unknown> | undefined): ReplyFacts {
    return this.#firstOf((each) => each.skim?.(members));
  }

  decodeError(): DecodedReply {
    return { body: undefined, facts: {} };
  }

  openStream(context: CallContext, request: JsonObject): StreamReader {
    return this.#first.openStream(context, request);
  }

  #firstOf(read: (each: Translation) => ReplyFacts | undefined): ReplyFacts {
    for (const each of this.#all) {
      try {
        const facts = read(each);
        if (facts !== undefined && tells(facts)) return facts;
      } catch {
        // It is not in the words of this one.
      }
    }
    return {};
  }
}

/** Of usage nobody told, what was said is what is billed. */
function tells({ usage, units, saidBytes = 0 }: ReplyFacts): boolean {
  return usage !== undefined || units !== undefined || saidBytes > 0;
}
