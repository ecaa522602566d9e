import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { CallerHeaders } from '../http/caller-headers.ts';

/** A request as it came, and its caller's side of the connection. Nothing here changes. */
export interface ArrivedRequest {
  readonly method: string;
  /** Path with `/v1`, without the query. */
  readonly pathname: string;
  /** With the question mark, or empty. */
  readonly search: string;
  readonly headers: IncomingHttpHeaders;
  readonly caller: CallerHeaders;
  readonly requestId: Buffer;
  readonly requestIdText: string;
  readonly traceId: string;
  /** As what of an agent's own calls it says that it is made; nobody has looked whether that is so. */
  readonly callMark?: string | undefined;
  /** It makes this response in the background, of which the service has kept what is asked: a UUID. */
  readonly keptJob?: string;
  /** `performance.now()` and Unix ms at arrival. */
  readonly startedAt: number;
  readonly startedAtMs: number;
  /** Whether the answer is a stream, where that is not the body's to say: each method of gRPC is one or the other. */
  readonly asksStream?: boolean | undefined;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Where the connection comes from. */
  readonly callerAddress: () => string;
  /** Reads the whole body; may be called once. Forms may be larger than JSON, which is parsed. */
  readonly readBody: (kind?: 'json' | 'form') => Promise<Buffer>;
  /** Counts bytes of a reply that are held until the request is over; false = they must not be. */
  readonly holdBytes: (bytes: number) => boolean;
  /** Counts the same for whoever reads on after the caller left, and says itself when it is over. */
  readonly holdApart: () => ApartBytes;
  /** The unread body, for passing on without holding it; may be called once. */
  readonly bodyStream: () => Readable;
}

/** Bytes that are held beyond the request that they came for. */
export interface ApartBytes {
  /** Counts so many more; false = they must not be held. */
  grow(bytes: number): boolean;
  release(): void;
}

/** Nobody counts them: what holds them has a bound of its own. */
export const uncountedBytes: ApartBytes = { grow: () => true, release() {} };
