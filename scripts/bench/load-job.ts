/** What `main.ts` and the load generator say to each other. */
export interface LoadJob {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** `POST` where it is not given. */
  method?: string;
  /** Empty = none is sent. */
  body: string;
  varied?: VariedHeader;
  connections: number;
  /** A closed loop's connections begin one after another over this time, so that they do not march in step. */
  rampMs: number;
  /** A closed loop sends the next request when the last is answered; with a rate, requests are sent by the clock. */
  requestsPerSecond?: number;
  /** Whichever is reached first ends the job. */
  requestsMax: number;
  durationMsMax: number;
  /** Cuts every connection after so long, in ms, and ends the job: for streams that are only held open. */
  cutAfterMs?: number;
  /** A reply must be 200, have at least this many bytes and end with this text, or it is a fault. */
  replyBytesMin: number;
  replyEndsWith: string;
}

/** A header that differs from request to request: its value is `before`, a number below `count`, and `after`. */
export interface VariedHeader {
  name: string;
  before: string;
  after: string;
  count: number;
}

export interface Distribution {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

export interface LoadResult {
  requests: number;
  faults: number;
  /** The first fault, for the message. */
  faultSample?: string;
  elapsedMs: number;
  /** Replies that had begun and not ended when the job was cut. */
  cut: number;
  /** From sending to the last byte; with a rate, from when a request was due if no connection was free. */
  latencyMs: Distribution;
  /** From sending to the first byte of the body. */
  firstByteMs: Distribution;
  /** The same of replies that were cut, from when the job began: how long it took until so many were open. */
  openedMs: Distribution;
}
