import type { ChatUsage } from './chat-usage.ts';
/**
 * The chat model: what every chat wire format is decoded to and encoded from
 * when caller and upstream speak different formats. It loses nothing that two
 * formats can both express; what only one format knows travels in
 * `extensions` (or a `foreign` part) under that format's name, so that an
 * encoder can take it up again or report it as dropped.
 */
import type { ReplyBill } from './reply-bill.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };

/** A marker that the prompt up to here may be cached by the provider. `ttl` is absent for the default. */
export interface CacheControl {
  type: string;
  ttl?: string;
}

/** Where the bytes of an image or a file are. */
export type MediaSource =
  | { kind: 'base64'; mediaType: string; data: string }
  /** `mediaType` where the caller told it; `owner` is the account that an `s3://` object belongs to. */
  | { kind: 'url'; url: string; mediaType?: string; owner?: string }
  | { kind: 'file-id'; fileId: string }
  | { kind: 'text'; mediaType: string; text: string };

export interface TextPart {
  type: 'text';
  text: string;
  cacheControl?: CacheControl;
  /** As the provider gave them: a list of citation objects. */
  citations?: JsonObject[];
  /** Proves the thought behind the part to the provider that wrote it; must return unmodified. */
  signature?: string;
}

export interface ImagePart {
  type: 'image';
  source: MediaSource;
  /** OpenAI's `low`, `high`, `auto`. */
  detail?: string;
  cacheControl?: CacheControl;
  /** As of a text. */
  signature?: string;
}

export interface FilePart {
  type: 'file';
  source: MediaSource;
  filename?: string;
  /** Context the model sees beside the file, and whether it may cite it. */
  context?: string;
  citable?: boolean;
  cacheControl?: CacheControl;
}

export interface AudioPart {
  type: 'audio';
  format: string;
  data: string;
}

export interface ToolCallPart {
  type: 'tool-call';
  id: string;
  name: string;
  /** JSON text, exactly as the model wrote it: it may be unfinished or invalid. */
  arguments: string;
  /** The call of a custom tool: its input is the `input` of the arguments. */
  isCustom?: boolean;
  cacheControl?: CacheControl;
  /** As of a text. */
  signature?: string;
}

export interface ToolResultPart {
  type: 'tool-result';
  toolCallId: string;
  content: (TextPart | ImagePart | FilePart | ForeignPart)[];
  isError?: boolean;
  cacheControl?: CacheControl;
}

export interface ThinkingPart {
  type: 'thinking';
  text: string;
  /** Proves to the provider that the text is its own; must return unmodified. */
  signature?: string;
}

export interface RedactedThinkingPart {
  type: 'redacted-thinking';
  data: string;
}

export interface RefusalPart {
  type: 'refusal';
  text: string;
}

/** A part that only one format knows, kept whole. */
export interface ForeignPart {
  type: 'foreign';
  format: string;
  value: JsonObject;
}

export type ChatPart =
  | TextPart
  | ImagePart
  | FilePart
  | AudioPart
  | ToolCallPart
  | ToolResultPart
  | ThinkingPart
  | RedactedThinkingPart
  | RefusalPart
  | ForeignPart;

export interface ChatMessage {
  /** `tool` messages hold tool results only; `developer` is OpenAI's newer name for `system`. */
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  parts: ChatPart[];
  /** OpenAI's participant name. */
  name?: string;
  /** Where the caller wrote it, e.g. `messages[3]`: for errors and reports. */
  path: string;
}

export interface FunctionTool {
  type: 'function';
  name: string;
  description?: string;
  parameters?: JsonObject;
  strict?: boolean;
  /** OpenAI's custom tool, which takes one text; `parameters` have it as `input` for all others. */
  custom?: CustomTool;
  cacheControl?: CacheControl;
  /** Further fields of a function, by their wire names. */
  extensions?: JsonObject;
  path: string;
}

/** What OpenAI's formats say of a custom tool beside its name. */
export interface CustomTool {
  /** As the caller wrote it; the function's has the format in words. */
  description?: string;
  /** The grammar of the text, by its wire names. */
  format?: JsonObject;
  /** Where the caller wrote the grammar. */
  formatPath: string;
}

/** A tool the provider runs or defines itself (web search, computer, bash, …). */
export interface ProviderTool {
  type: 'provider';
  format: string;
  value: JsonObject;
  path: string;
}

export type ChatTool = FunctionTool | ProviderTool;

export type ToolChoice = { type: 'none' | 'auto' | 'required' } | { type: 'tool'; name: string };

export type ResponseFormat =
  | { type: 'text' }
  | { type: 'json' }
  | {
      type: 'json-schema';
      name?: string;
      description?: string;
      schema: JsonObject;
      strict?: boolean;
    };

export interface Reasoning {
  /** `enabled` with a budget, `adaptive` (the model decides), `between_tools` (no thought before the answer), `disabled`. */
  mode?: 'enabled' | 'adaptive' | 'between_tools' | 'disabled';
  budgetTokens?: number;
  effort?: string;
  /** Whether thinking is shown, summarised or omitted, by the provider's word. */
  display?: string;
}

export interface ChatRequest {
  model: string;
  messages: ChatMessage[];
  stream: boolean;
  /** The caller wants usage at the end of the stream. */
  includeUsage?: boolean;
  tools?: ChatTool[];
  /** Those too that the caller keeps from the model in this turn; absent = none is. */
  allTools?: ChatTool[];
  toolChoice?: ToolChoice;
  parallelToolCalls?: boolean;
  outputTokensMax?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  frequencyPenalty?: number;
  presencePenalty?: number;
  logitBias?: JsonObject;
  logprobs?: boolean;
  topLogprobs?: number;
  /** How many answers; 1 when absent. */
  choices?: number;
  seed?: number;
  stop?: string[];
  user?: string;
  serviceTier?: string;
  responseFormat?: ResponseFormat;
  reasoning?: Reasoning;
  cacheControl?: CacheControl;
  /** Fields this model has no name for, by their wire names, and the format they belong to. */
  extensions: { format: string; fields: JsonObject };
}

/** Unified; the provider's own word stands beside it. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'other';

export interface ChatChoice {
  index: number;
  parts: ChatPart[];
  finishReason: FinishReason;
  rawFinishReason?: string;
  stopSequence?: string;
  logprobs?: JsonObject;
  /** Further facts of this answer (grounding, safety ratings …), by their wire names. */
  details?: JsonObject;
}

export interface ChatReply {
  id?: string;
  model?: string;
  createdSeconds?: number;
  choices: ChatChoice[];
  usage?: ChatUsage;
  serviceTier?: string;
  /** Further fields of the reply, by their wire names. */
  extensions: { format: string; fields: JsonObject };
}

/** What a provider tells of its fault beside type and message: a code that programs act on (`context_length_exceeded`), and a parameter. */
export interface VendorFault {
  readonly code?: string;
  readonly param?: string;
}

/**
 * One step of a streamed reply. `choice` numbers the answers, `block` the
 * parts of one answer as the upstream numbers them, `call` the tool calls of
 * one answer from 0.
 */
export type ChatStreamEvent =
  | {
      type: 'reply-start';
      id?: string;
      model?: string;
      createdSeconds?: number;
      serviceTier?: string;
    }
  | { type: 'text-start'; choice: number; block: number }
  | { type: 'text-delta'; choice: number; block: number; text: string; logprobs?: JsonObject }
  | { type: 'text-signature'; choice: number; block: number; signature: string }
  | {
      type: 'image';
      choice: number;
      block: number;
      source: MediaSource;
      signature?: string;
    }
  | { type: 'refusal-delta'; choice: number; text: string }
  | { type: 'thinking-start'; choice: number; block: number }
  | { type: 'thinking-delta'; choice: number; block: number; text: string }
  | { type: 'thinking-signature'; choice: number; block: number; signature: string }
  | { type: 'redacted-thinking'; choice: number; block: number; data: string }
  | { type: 'citation'; choice: number; block: number; citation: JsonObject }
  | {
      type: 'tool-call-start';
      choice: number;
      block: number;
      call: number;
      id: string;
      name: string;
      signature?: string;
    }
  | { type: 'tool-call-delta'; choice: number; block: number; call: number; arguments: string }
  | { type: 'foreign-part'; choice: number; block: number; format: string; value: JsonObject }
  | {
      type: 'finish';
      choice: number;
      reason: FinishReason;
      raw?: string;
      stopSequence?: string;
      details?: JsonObject;
    }
  /** `isBegun`: counted when the answer began, what came out is not in it yet. */
  | { type: 'usage'; usage: ChatUsage; isBegun?: true }
  /** Beside tokens, also where none are counted. Callers are not told. */
  | { type: 'bill'; bill: ReplyBill }
  | { type: 'reply-end' }
  | { type: 'fault'; kind: string; message: string; status: number; vendor?: VendorFault };
