import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Endpoint } from '@sluice/contracts';
import type { CompiledConfig } from '@sluice/engine';
import type { ErrorCode } from '@sluice/errors';
import type { FormPart, JsonObject } from '@sluice/providers';
import type { RoutingStop } from '../calls/request-bounds.ts';
import type { CompiledBundle, SavedConfig } from '../compiled/compiled-bundle.ts';
import type { FoundPrompt } from '../compiled/prompt-compiler.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { CallerHeaders } from '../http/caller-headers.ts';
import type { CounterState } from '../limits/limit-store.ts';
import type { RequestLimits } from '../limits/request-limits.ts';

/** The endpoints of the data plane, as routes know them. */
export interface EndpointRoute {
  endpoint: Endpoint;
  /** Passed through untouched: no translation, any body. */
  isProxy: boolean;
}

/** One request with all that is known of it. Stages fill it in; nothing else is passed around. */
export interface Exchange {
  /** Of a prompt's request, known once the prompt is. */
  route: EndpointRoute;
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
  /** `performance.now()` and Unix ms at arrival. */
  readonly startedAt: number;
  readonly startedAtMs: number;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Where the connection comes from. */
  readonly callerAddress: () => string;
  /** Reads the whole body; may be called once. Forms may be larger than JSON, which is parsed. */
  readonly readBody: (kind?: 'json' | 'form') => Promise<Buffer>;
  /** Counts bytes of a reply that are held until the request is over; false = they must not be. */
  readonly holdBytes: (bytes: number) => boolean;
  /** The unread body, for passing on without holding it; may be called once. */
  readonly bodyStream: () => Readable;

  key: ResolvedKey | undefined;
  bundle: CompiledBundle | undefined;
  metadata: Readonly<Record<string, string>>;
  /** Saved-only mode: what the request says configures nothing. Known before the config is. */
  isSavedOnly: boolean;
  config:
    | { compiled: CompiledConfig; saved: SavedConfig | undefined; source: ConfigOrigin }
    | undefined;
  /** The saved prompt that the request is made from. */
  prompt: FoundPrompt | undefined;
  limits: RequestLimits | undefined;
  limitStates: CounterState[];
  /** The body as received; undefined while unread or when it is streamed through. */
  body: Buffer | undefined;
  json: JsonObject | undefined;
  /** The parts of a multipart body; `json` has its text fields then. */
  form: readonly FormPart[] | undefined;
  /** As the caller wrote it. */
  model: string;
  wantsStream: boolean;
  /** Set when routing begins: from here on a fault of ours is a fault of an attempt. */
  isRouting: boolean;
  /** Whom the last attempt asked, and where the config says so. */
  target: { provider: string; path: string } | undefined;
  /** How many attempts have begun: 0 = the request never got so far. */
  attempts: number;
  /** How many targets were refused before they were called, each with a record of its own. */
  refusals: number;
  /** Calls, refused targets and kept answers so far: what the bounds of a request count. */
  tries: number;
  /** Why no more was tried, although the config says more. */
  stoppedBy: RoutingStop | undefined;
  /** Of the last target: retries made, -1 = all were used up in vain. */
  retryCount: number;
  /** Waited because providers asked to, over all targets. */
  waitedMs: number;
  cacheStatus: CacheStatus;
  /** How the plan came about, as the usage record keeps it. */
  decisionJson: string;
  /** What the checks of the present target came to, for the record. */
  hookVerdicts: readonly HookVerdict[];
  /** Set by the attempt that gave the reply, for the request's log event. */
  summary: ReplySummary | undefined;
}

export interface HookVerdict {
  id: string;
  event: 'before' | 'after';
  verdict: boolean;
  deny: boolean;
}

/** As the response header says it. */
export type CacheStatus = 'HIT' | 'MISS' | 'REFRESH' | 'DISABLED';

/** Who named the config: the request, by slug or with the document itself, its key, or its workspace. */
export type ConfigOrigin = 'header-slug' | 'inline' | 'key-default' | 'workspace-default';

export interface ReplySummary {
  provider: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
  costNanoUsd: number;
  upstreamMs: number;
}

export type ReplyHeaders = Record<string, string | string[]>;

/** What a stage returns. Only the route turns it into HTTP. */
export type Reply = BodyReply | StreamReply;

export interface BodyReply {
  kind: 'body';
  status: number;
  headers: ReplyHeaders;
  body: Buffer;
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

export type Stage = (exchange: Exchange, next: () => Promise<Reply>) => Promise<Reply>;

/** Stages in order, the first one outermost. Built once at start. */
export function pipeline(stages: readonly Stage[]): (exchange: Exchange) => Promise<Reply> {
  return (exchange) => run(stages, 0, exchange);
}

function run(stages: readonly Stage[], index: number, exchange: Exchange): Promise<Reply> {
  const stage = stages[index];
  if (stage === undefined) throw new Error('the last stage must answer');
  return stage(exchange, () => run(stages, index + 1, exchange));
}
