import type { ErrorCode, GatewayError } from '@sluice/errors';

export type ReplyHeaders = Record<string, string | string[]>;

/** What a stage returns. Only the route turns it into HTTP. */
export type Reply = BodyReply | StreamReply;

export interface BodyReply {
  kind: 'body';
  status: number;
  headers: ReplyHeaders;
  body: Buffer;
  /** A guardrail's refusal, whatever its status. */
  isDenial?: true;
  /** It passes as it came, and nothing else is told of it than of one that comes in pieces. */
  isPassed?: true;
}

export interface StreamReply {
  kind: 'stream';
  status: number;
  headers: ReplyHeaders;
  /** Starts the flow; bytes come as the upstream sends them. */
  pipeTo(sink: ReplySink): void;
  /** Lets go of an answer that nobody will read: another target is asked instead. */
  discard(): void;
  /** True once the terminal event has passed: what ended before it is not the whole answer. */
  wasWhole(): boolean;
  /**
   * For whoever judges the stream while it passes (`PreparedCall.isJudged`): it has
   * passed, or it ends by this error. Settles the call, and returns what the caller
   * is told of the error in the stream's own words. Absent where nothing is called.
   */
  conclude?(denied: GatewayError | undefined): Buffer;
}

/** The caller's side of a stream. */
export interface ReplySink {
  /** False when the caller reads too slowly; `onDrain` tells when to go on. */
  write(chunk: Buffer): boolean;
  onDrain(listener: () => void): void;
  end(): void;
  /** Cuts the connection: the only honest end when the format has no error event. */
  cut(code: ErrorCode): void;
}

/** Ends an answer that is not the request's. */
export function discard(reply: Reply | undefined): void {
  if (reply?.kind === 'stream') reply.discard();
}
