import type { AuthRecipe, CallFacts } from './call-facts.ts';
/**
 * What the gateway sees of providers. Everything here is pure: values in,
 * values out; no sockets, clock or environment.
 *
 * Start at `catalog.ts` (who there is), then `translation/find-translation.ts` (what one attempt
 * does to bodies), then `codecs/<format>/`.
 */

import type {
  CallerFormat,
  ChatUsage,
  Endpoint,
  JsonObject,
  JsonValue,
  ObjectFamily,
  ReplyBill,
  VendorFault,
} from '@sluice/contracts';
import type { FinalFault } from './final-faults.ts';
import type { WordRule } from './fitting-words.ts';
import type { SettingName } from './setting-kinds.ts';
import type { VendorFiles } from './vendor-files.ts';
import type { JobsByFamily } from './vendor-jobs.ts';

export type { JsonObject, JsonValue };

/** Formats of conversations: each has a codec, and any two translate into each other. */
export type ChatFormat =
  | 'openai-chat'
  | 'openai-completions'
  | 'openai-responses'
  | 'anthropic-messages'
  | 'gemini'
  | 'bedrock-converse'
  | 'cohere-chat'
  | 'oci-chat'
  | 'palm-chat'
  | 'triton-generate';

/**
 * A JSON and stream dialect: what callers speak (the operations say which),
 * what conversations upstream are held in, or `vendor/endpoint` for what one
 * vendor alone speaks (`BodyDialect`).
 */
export type WireFormat = CallerFormat | ChatFormat | `${string}/${string}`;

/**
 * A fixed text, in which `{name}` stands for a setting, or what a function makes
 * of the facts. Settings in a text are checked: letters, digits, dot, hyphen and underscore.
 */
export type Template = string | ((facts: CallFacts) => string);

/** How one endpoint is reached and what it speaks. Entries are constants: calls are prepared once for each. */
export interface EndpointEntry {
  format: WireFormat;
  /** Appended to the base URL, e.g. `/chat/completions`; may bring a query. */
  path: Template;
  /** Sent where the caller's query does not have the parameter: how many a list has at once. */
  query?: Readonly<Record<string, string>>;
  /** In place of the provider's. A custom host replaces this one, too. */
  baseUrl?: Template;
  /** POST when absent (GET for `listModels`). */
  method?: 'GET' | 'POST';
  /** In place of the provider's. */
  auth?: AuthRecipe;
  /** In place of the provider's. */
  quirks?: Quirks;
  /** What the provider wraps around the format. */
  envelope?: Envelope;
  /** Set for `vendor/endpoint` formats: translates whole bodies. */
  dialect?: BodyDialect;
  /** Sent with every request to this endpoint. */
  headers?: Readonly<Record<string, string>>;
}

/** Paths of pass-through calls, and the format that replies come in there. */
export interface KnownPaths {
  /** Of the path without its query, as the caller wrote it behind `/v1` or `/v1/proxy`. */
  pattern: RegExp;
  format: WireFormat;
  /** Its streams are not server-sent events. */
  openUnframer?: Envelope['openUnframer'];
}

/** For endpoints that differ by model, e.g. Vertex AI's publishers. */
export interface EndpointChoice {
  /** Undefined = the model is not offered at this endpoint. `asked`: what the caller called, which another may stand in for. */
  choose(facts: CallFacts, asked: Endpoint): EndpointEntry | undefined;
  /** All that may be chosen, for lists of what there is. */
  readonly all: readonly EndpointEntry[];
}

/** A known format in another wrapping: Claude on Bedrock, Gemini without SSE. */
export interface Envelope {
  /** Edits the body that is already in the format; undefined = none needed. */
  wrap?: (body: JsonObject, context: CallContext) => JsonObject | undefined;
  /** The upstream wants version and betas in the body, where `wrap` puts them: they are not made headers. */
  keepsBodyHeaders?: boolean;
  /** Errors come in the vendor's own shape; callers get them in the format's. */
  translatesErrors?: boolean;
  /** Turns the upstream's stream into server-sent events of the format. */
  openUnframer?: () => Unframer;
}

/** Reads an upstream's own framing; gives server-sent events. Never throws on garbage: see `fault`. */
export interface Unframer {
  push(chunk: Buffer): Buffer;
  end(): Buffer;
  readonly fault: StreamFault | undefined;
}

/** One endpoint of one vendor, whole bodies only: no streams. Pure. */
export interface BodyDialect {
  /** @throws GatewayError('request.invalid_field') with the path of what cannot be sent */
  encode(body: JsonObject, context: CallContext): EncodedRequest;
  /** Undefined when the bytes are not the vendor's reply. */
  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply | undefined;
}

/** What came before the bytes of a reply. Header names are lower case. */
export interface ReplyHead {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A file or field of a multipart form, as it came. */
export interface FormPart {
  name: string;
  filename: string | undefined;
  contentType: string | undefined;
  data: Buffer;
}

/** Edits of a body that is otherwise passed on: a short closed list, applied in this order. */
export interface Quirks {
  /** A field that is there under both names keeps the value of the new one. */
  rename?: Readonly<Record<string, string>>;
  /** What the provider refuses. Reported as dropped, save `stream_options`: usage comes anyway. */
  drop?: readonly string[];
  /** Numbers beyond are moved to the nearer end. */
  clamp?: Readonly<Record<string, readonly [min: number, max: number]>>;
  /** Field → value → the provider's word for it. */
  values?: Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  force?: Readonly<Record<string, JsonValue>>;
  /** In front of model names by habit, unknown to the provider. */
  modelPrefix?: string;
  /** Thinking is switched by `thinking: {type}`, which a `reasoning_effort` alone implies. */
  effortSwitchesThinking?: boolean;
  /** The provider does not know OpenAI's `developer` role: it is renamed to `system`. */
  developerAsSystem?: boolean;
  /** Turns of one role may not follow each other: they are joined. */
  joinsTurns?: boolean;
  /** The field translated requests limit the output with; `max_tokens` when absent, as most know only that. */
  outputTokensField?: string;
  /** So many stop sequences are taken; of translated requests those beyond are left out. */
  stopsMax?: number;
  /** Translated requests may carry `top_k`, which OpenAI does not know. */
  takesTopK?: boolean;
  /** Fields of translated requests alone, e.g. to have thinking apart from the answer. */
  translated?: Readonly<Record<string, JsonValue>>;
  /** Where assistant messages take thinking back, needed between the calls of a tool loop. */
  thinkingBack?: ThinkingBack;
  /** A host of the chat format that takes marks of the prompt cache in Anthropic's words. */
  cacheMarks?: HostCacheMarks;
  /** Ids of tool calls that a host of the chat format takes; those that another made are replaced. */
  callIds?: WordRule;
}

/** On parts always. Those of the request's own mean all there is. */
export interface HostCacheMarks {
  onTools: boolean;
  onRequest: boolean;
  /** A prefix may be asked to be kept for an hour. */
  anHour: boolean;
  /** Models that need marks: all others keep prefixes by themselves, or never. */
  models: RegExp;
}

/** Each on its own or several together, as the provider's own answers have them. */
export interface ThinkingBack {
  /** As text under this name. */
  field?: 'reasoning' | 'reasoning_content';
  /** As `reasoning_details`, entry by entry as they came. */
  details?: boolean;
  /** Within the content, which is made of the thinking and the words. */
  content?: (thinking: string, text: string, model: string) => JsonValue;
  /** Of the models that take it; absent = all. */
  models?: RegExp;
}

export interface ProviderEntry {
  id: string;
  name: string;
  /** Other names that mean this provider. */
  aliases?: readonly string[];
  /** Without a trailing slash; empty for those who have no address of their own (a custom host names it). */
  baseUrl: Template;
  auth: AuthRecipe;
  /** A `proxy` entry gives pass-through calls another address or path; they need none. */
  endpoints: Partial<Record<Endpoint, EndpointEntry | EndpointChoice>>;
  /** Sent with every request, e.g. `anthropic-version`. */
  headers?: Readonly<Record<string, string>>;
  /**
   * Settings that are headers (lower case) of the vendor's own, e.g. `anthropic-beta`: the
   * caller's travel on, with the service prefix (`x-service-…`) or, unless that is
   * there, without. What admins and configs keep wins.
   */
  callerHeaders?: readonly SettingName[];
  /** Upstream header → setting that fills it. */
  settingHeaders?: Readonly<Record<string, SettingName>>;
  /**
   * Settings callers may send as `x-service-<name>`; admins keep them in the
   * credential's configurations, configs in the target, with underscores. What
   * each decides, and so who may set it, stands in `setting-kinds.ts`.
   */
  settings?: readonly SettingName[];
  /** Those of them that the vendor's own clients send, without the service prefix. */
  bareSettings?: readonly SettingName[];
  /** Further ones, which admins keep and configs name, and no header says. */
  keptSettings?: readonly SettingName[];
  /**
   * Further headers (lower case) of the vendor's that say whose account is
   * meant; those that settings fill need not be named.
   */
  accountHeaders?: readonly string[];
  /**
   * Names that settings put in the place of the model, or beside it: a deployment,
   * a serving endpoint. Empty where the model alone says what serves the call.
   */
  servedBy?: (facts: CallFacts) => readonly string[];
  /** What the model is, where the name that it is asked by need not say so: the model of a deployment. */
  modelBehind?: (facts: CallFacts) => string;
  quirks?: Quirks;
  /** It serves others' formats at addresses of its own, which know nothing of what their clients say in a query, as `beta=true`. */
  takesNoQuery?: true;
  /** Further paths whose replies can be read when they pass through, e.g. those that name the model. */
  knownPaths?: readonly KnownPaths[];
  /** Before paths that pass through where neither they nor the base address have a version: the `/v1` of a client's base URL is ours. */
  passingVersion?: string;
  /** What stays there under an id, at OpenAI's paths. Absent = nothing that is known. */
  keeps?: Keepings;
  /** Its files, where they are not asked for as OpenAI's are. */
  files?: VendorFiles;
  /** The same of its fine-tunes and videos. */
  jobs?: JobsByFamily;
  /** The header (lower case) that says which service tier a call was served with, where bodies do not, or only repeat what was asked. */
  tierHeader?: string;
  /** Refusals that it charges the prompt of, as it worked on it; their answers tell no usage. Absent = none. */
  chargesRefusals?: readonly FinalFault[];
  /** Where the facts come from: a URL or document, and a date. */
  source: string;
  /** What users should know, in a sentence: retired, moved, not verified … */
  note?: string;
}

/** Of each family that a provider keeps, what its requests must say unless the caller does. */
export type Keepings = Partial<
  Readonly<Record<ObjectFamily, { readonly headers?: Readonly<Record<string, string>> }>>
>;

/** Tokens of one reply. Input includes cache reads and writes, each also counted apart. */
export type Usage = ChatUsage;

/** What a reply told about itself. Absent = the upstream did not say. */
export interface ReplyFacts extends ReplyBill {
  id?: string;
  model?: string;
  /** Raw, as the provider named it. */
  finishReason?: string;
  usage?: Usage;
  /** Nobody counted it: `usage` is made of what was seen. */
  isEstimate?: boolean;
  /**
   * Bytes of UTF-8 that were said, for want of a count of tokens: of a stream that
   * told none, or was cut before its last count.
   */
  saidBytes?: number | undefined;
  /** It is a refusal that is charged all the same (`ProviderEntry.chargesRefusals`). */
  isChargedRefusal?: true;
}

export interface CallContext extends CallFacts {
  provider: ProviderEntry;
  /** The caller's body, for replies that are made of both; `{}` when it has none. */
  request: JsonObject;
  /** The parts of a multipart body; undefined when the body is not one. */
  form?: readonly FormPart[];
  /** The address is not the catalogue's: whoever answers there need not be the provider. */
  hasCustomHost?: boolean;
  /** Default true: only the standard's fields. False adds content_blocks, raw finish reasons … */
  strictOpenAiCompliance: boolean;
  /** A header as it goes along, of those that callers or admins choose; undefined = what is sent is the catalogue's, or none. */
  sentHeader?: (name: SettingName) => string | undefined;
  /** Unix ms, for formats that carry a creation time the upstream does not send. */
  nowMs: number;
  /** Names the answer where the upstream gives it no id; absent = the time does. */
  answerId?: () => string;
  /** What proved earlier calls, for callers that do not give it back; absent = nothing is kept. */
  keptSignatures?: SignatureKeeper;
  /** For whom it is kept: nobody else finds it. */
  owner?: string;
  /** The beginning of the prompt is marked for the provider's cache where the caller has not done so; absent = it is not. */
  cachePrefix?: CachePrefix;
}

/** How long a provider is asked to keep the beginning of a prompt. */
export interface CachePrefix {
  ttl: '5m' | '1h';
}

/** Keeps for a while, and may forget at any time. */
export interface SignatureKeeper {
  keep(owner: string, call: string, signature: string): void;
  find(owner: string, call: string): string | undefined;
}

/** What members of a body become; undefined = they are left out. */
export type MemberEdits = Readonly<Record<string, JsonValue | undefined>>;

export interface EncodedRequest {
  /** The body for the upstream; `undefined` = send the caller's bytes unchanged. */
  body: JsonObject | undefined;
  /** Where `body` is the caller's but for these of its members: what becomes of them in its bytes. */
  edits?: MemberEdits;
  /** Fields of the caller that the upstream's format cannot carry, as paths. */
  dropped: string[];
  /** In place of `body`, for what is not JSON. */
  bytes?: { data: Buffer; contentType: string };
  /** Headers this body needs; `withRequestHeaders` adds them to those of `authHeaders`. */
  headers?: Readonly<Record<string, string>>;
}

export interface DecodedReply {
  /** The body for the caller; `undefined` = send the upstream's bytes unchanged. */
  body: Buffer | undefined;
  /** What the upstream's bytes are as JSON, where they are sent unchanged and were read for the facts. */
  document?: JsonObject;
  /** `application/json` when absent. */
  contentType?: string;
  facts: ReplyFacts;
  /** The bytes are JSON of more values or levels than are read: `facts` are of what stands beside them. */
  isUnread?: boolean;
}

export interface StreamFault {
  type: string;
  message: string;
  /** The HTTP status this fault would have had as a plain answer. */
  status: number;
  /** What the provider tells beside it. */
  vendor?: VendorFault | undefined;
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

/** What one attempt at one provider does to bodies. Immutable; made once per endpoint entry. */
export interface Translation {
  /** `native`: the upstream speaks the caller's format, bytes pass untouched (save quirks). */
  readonly mode: 'native' | 'translated';
  readonly entry: EndpointEntry;
  readonly upstreamFormat: WireFormat;
  readonly callerFormat: WireFormat;
  /** Nothing is known of the format: what a reply does not tell was not used. */
  readonly isToldAlone?: true;
  encode(body: JsonObject, context: CallContext): EncodedRequest;
  /** A complete 2xx body. Throws GatewayError('upstream.invalid_response') when it is not the format. */
  decode(bytes: Buffer, context: CallContext, head: ReplyHead): DecodedReply;
  /**
   * What the small members tell of a reply that is too large to be decoded (see
   * `SkimmedJson`). Absent where such a reply is not passed on.
   */
  skim?(members: Record<string, unknown> | undefined): ReplyFacts | undefined;
  /** A complete non-2xx body: never throws. Native: unchanged. */
  decodeError(status: number, bytes: Buffer, context: CallContext): DecodedReply;
  /** `request` is the body as sent upstream. */
  openStream(context: CallContext, request: JsonObject): StreamReader;
  /**
   * The same where the events are told as one list of JSON, which is no event stream and may be too large to be decoded.
   * Absent, or undefined: the format has none.
   */
  openList?(request: JsonObject): StreamReader | undefined;
}
