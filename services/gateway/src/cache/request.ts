import type { CacheStatus, Endpoint } from '@sluice/contracts';
import type { CacheRule } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { Reply, StreamReply } from '../exchange/reply.ts';

/** What decides whether two requests have the same answer, and how this one wants it. */
export interface CacheRequest {
  rule: CacheRule | undefined;
  /** What the organisation lets answers be kept for, and has them kept where the rule does not say; 0 = it says nothing. */
  maxAgeCapS: number;
  endpoint: Endpoint;
  organisationId: string;
  workspaceId: string;
  /** Whose upstream credential answers: `@slug` of a saved provider, or the caller's own key. Never stored, only hashed. */
  credential: string;
  provider: string;
  origin: string;
  /** With the query. */
  path: string;
  method: string;
  /** The JSON as the upstream gets it. */
  sentJson: JsonObject;
  model: string;
  metadata: Readonly<Record<string, string>>;
  namespace: string | undefined;
  /** As sent upstream: they part the cache where no namespace does. */
  upstreamHeaders: Readonly<Record<string, string | string[]>>;
  /** Headers among them that the request, and not its config, had forwarded. */
  forwardsCallersHeaders: boolean;
  /** Changed by whoever has what is kept forgotten. */
  generation: string;
  /** Identity of the checks that an answer passes before it is kept; empty = none. */
  checkedBy: string;
  wantsStream: boolean;
  /** Asks the upstream whatever is stored, and overwrites it. */
  forceRefresh: boolean;
  signal: AbortSignal;
  strictOpenAiCompliance: boolean;
  /** Absent = only the very same question has the same answer. */
  semantic?: SemanticAsk | undefined;
}

/** What it takes to find the same question in other words. */
export interface SemanticAsk {
  /** The cosine from which on two questions are one. */
  threshold: number;
  /** What would be answered is told, and not given. */
  isShadow: boolean;
  /** The request in its caller's format, as config and checks left it. */
  askedJson: JsonObject;
  bodyBytes: number;
  /** Who makes the vectors: those of others are not compared with them. */
  embedder: string;
  /** A vector of length 1; undefined = there is none in time. Never rejects. */
  embed: (text: string) => Promise<Float32Array | undefined>;
}

export interface CacheLookup {
  status: CacheStatus;
  /** With a hit: ready to send, with a content type and no other header. */
  reply?: Reply;
  /** Its bytes. */
  kept?: Delivery;
  /** How near the question is whose answer it is, or in shadow would have been; absent = it is the same one, or none was near. */
  similarity?: number;
  /** Otherwise: where the upstream's answer goes. Must be ended in one of its ways. */
  fill?: CacheFill;
}

/** An answer in the form a request wants it. */
export interface Delivery {
  isStream: boolean;
  contentType: string;
  body: Buffer;
  /** How near the question is that it answers; absent = it is the very same. */
  similarity?: number;
}

/** Ends the wait of those who want the same answer: with it, or without. Calls after the first do nothing. */
export interface CacheFill {
  /** A whole answer with status 200. Stored when it is JSON and not too large. */
  keepBody(body: Buffer, contentType: string): void;
  /**
   * The same stream; its bytes pass untouched and at once, and a copy is stored
   * when `wasWhole` says so at its end. From here on the stream ends the wait.
   */
  keepStream(reply: StreamReply, wasWhole: () => boolean): StreamReply;
  /** There is no answer to store. */
  release(): void;
}
