/**
 * What the gateway sees of providers. Everything here is pure: values in,
 * values out; no sockets, clock or environment.
 *
 * Start at `catalog.ts` (who there is), then `wire-call.ts` (what one attempt
 * does to bodies), then `codecs/<format>/`.
 */

import type { ChatUsage, JsonObject, JsonValue } from '@sluice/contracts';

export type { JsonObject, JsonValue };

/** Ids as logs, policies and guardrails name them (gateway's public vocabulary). */
export type Endpoint = 'chatComplete' | 'complete' | 'embed' | 'messages' | 'listModels' | 'proxy';

/** A JSON and stream dialect. */
export type WireFormat =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-embeddings'
  | 'openai-models'
  | 'anthropic-messages'
  | 'raw';

export type AuthRecipe = { type: 'bearer' } | { type: 'header'; header: string } | { type: 'none' };

export interface EndpointEntry {
  format: WireFormat;
  /** Appended to the base URL, e.g. `/chat/completions`. */
  path: string;
}

/** Edits of a body that is otherwise passed on: a short closed list. */
export interface Quirks {
  rename?: Readonly<Record<string, string>>;
  drop?: readonly string[];
  force?: Readonly<Record<string, JsonValue>>;
  /** The field translated requests limit the output with; `max_tokens` when absent, as most know only that. */
  outputTokensField?: string;
  /** The provider does not know OpenAI's `developer` role: it is renamed to `system`. */
  developerAsSystem?: boolean;
}

export interface ProviderEntry {
  id: string;
  name: string;
  /** Without a trailing slash. */
  baseUrl: string;
  auth: AuthRecipe;
  endpoints: Partial<Record<Endpoint, EndpointEntry>>;
  /** Sent with every request, e.g. `anthropic-version`. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Caller headers (lower case) that travel on, e.g. `anthropic-beta`. Each is
   * also looked for with the service prefix (`x-service-…`), which wins.
   */
  callerHeaders?: readonly string[];
  /** Upstream header → key of the credential's configurations that fills it; wins over the caller's header. */
  configurationHeaders?: Readonly<Record<string, string>>;
  quirks?: Quirks;
  /** Where the facts come from: a URL or document, and a date. */
  source: string;
}

/** Tokens of one reply. Input includes cache reads and writes, each also counted apart. */
export type Usage = ChatUsage;

/** What a reply told about itself. Absent = the upstream did not say. */
export interface ReplyFacts {
  id?: string;
  model?: string;
  /** Raw, as the provider named it. */
  finishReason?: string;
  usage?: Usage;
}

export interface CallContext {
  provider: ProviderEntry;
  /** Default true: only the standard's fields. False adds content_blocks, raw finish reasons … */
  strictOpenAiCompliance: boolean;
  /** Unix ms, for formats that carry a creation time the upstream does not send. */
  nowMs: number;
}

export interface EncodedRequest {
  /** The body for the upstream; `undefined` = send the caller's bytes unchanged. */
  body: JsonObject | undefined;
  /** Fields of the caller that the upstream's format cannot carry, as paths. */
  dropped: string[];
  /** Headers this body needs; `withRequestHeaders` adds them to those of `authHeaders`. */
  headers?: Readonly<Record<string, string>>;
}

export interface DecodedReply {
  /** The body for the caller; `undefined` = send the upstream's bytes unchanged. */
  body: Buffer | undefined;
  facts: ReplyFacts;
}

export interface StreamFault {
  type: string;
  message: string;
  /** The HTTP status this fault would have had as a plain answer. */
  status: number;
}

/**
 * Reads one upstream stream. `push` takes bytes cut anywhere and returns the
 * caller's bytes: in native mode the very same buffer, in translated mode zero
 * or more complete events. Never throws on garbage: sets `phase` to `failed`.
 */
export interface StreamReader {
  push(chunk: Buffer): Buffer;
  /** The upstream ended; returns what is still to be sent. */
  end(): Buffer;
  /**
   * `preamble` until the first content event (role-only chunks, pings,
   * comments and message_start are preamble), then `content`; `complete` once
   * the format's terminal event was seen; `failed` after an error event or
   * bytes that are not the format.
   */
  readonly phase: 'preamble' | 'content' | 'complete' | 'failed';
  readonly facts: ReplyFacts;
  readonly fault: StreamFault | undefined;
  /** The bytes returned so far already tell the caller of the fault: send no further error event. */
  readonly faultForwarded: boolean;
  /** The caller's format's own error event (and terminator, where it has one). */
  errorEvent(fault: StreamFault & { code?: string }): Buffer;
}

/** What one attempt at one provider does to bodies. Immutable; made once per (provider, endpoint). */
export interface WireCall {
  /** `native`: the upstream speaks the caller's format, bytes pass untouched (save quirks). */
  readonly mode: 'native' | 'translated';
  readonly path: string;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  encode(body: JsonObject, context: CallContext): EncodedRequest;
  /** A complete 2xx body. Throws GatewayError('upstream.invalid_response') when it is not the format. */
  decode(bytes: Buffer, context: CallContext): DecodedReply;
  /** A complete non-2xx body: never throws. Native: unchanged. */
  decodeError(status: number, bytes: Buffer, context: CallContext): DecodedReply;
  /** `request` is the body as sent upstream. */
  openStream(context: CallContext, request: JsonObject): StreamReader;
}
