import type { GatewayError } from '@sluice/errors';
import type { ReplyFacts } from '@sluice/providers';

/** Looks at a reply on its way without touching it. */
export interface Tap {
  add(chunk: Buffer): void;
  /** A promise where what has passed is still being unpacked; it never rejects. */
  end(): TapEnd | Promise<TapEnd>;
  /** As far as it has told. */
  readonly facts?: ReplyFacts | undefined;
  /** Of a stream: what its format says of an error. */
  errorEvent?(error: GatewayError): Buffer;
  /** Of a stream: what has passed ends with a whole server-sent event. */
  readonly isBetweenEvents?: boolean;
  /** More has passed than it has looked at: it calls back once it has. */
  readonly lags?: boolean;
  onCaughtUp?(listener: () => void): void;
}

/** Looks at what is not compressed, at once. */
export interface PlainTap extends Tap {
  end(): TapEnd;
}

export interface TapEnd {
  facts: ReplyFacts | undefined;
  isComplete: boolean;
}
