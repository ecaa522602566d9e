import type { JsonObject, JsonValue } from '@sluice/contracts';
import { countText, type TextCount } from './count-text.ts';
import { bytesOfBase64 } from './media-seconds.ts';
import {
  documentTokens,
  type MediaRule,
  type Picture,
  pictureTokens,
  secondsOfSound,
  secondsOfVideo,
  soundTokens,
  videoTokens,
} from './media-tokens.ts';
import { pictureSize } from './picture-size.ts';

/** For how long a provider keeps the beginning of a prompt. */
export type CacheLifetime = '5m' | '1h';

/** What of a request a model reads, and what it allows of an answer. */
export interface RequestSize {
  /** Of all text; correct it by the model's ratio. */
  readonly textTokens: number;
  readonly mediaTokens: number;
  /** More than what stands in it may be read: something is named by address or id, or a tool of the provider's reads on. */
  readonly isOpen: boolean;
  /** The caller's own limit for one answer; undefined = there is none. */
  readonly outputMax: number | undefined;
  /** Answers asked for, 1 at least. */
  readonly answers: number;
  /** Some of it is marked to be kept by the provider, for so long at most; undefined = none is. */
  readonly writesCache: CacheLifetime | undefined;
}

/** A value that is not text counts as what stands around it. */
const valuesMax = 20_000;
const depthMax = 64;
/** Role, name and the ends of a turn; and what begins the answer. */
const turnTokens = 4;
const frameTokens = 8;
/** What a schema or arguments have around a name. */
const memberTokens = 0.4;

const textKeys = [
  'messages',
  'prompt',
  'input',
  'contents',
  'system',
  'systemInstruction',
  'system_instruction',
  'instructions',
  'tools',
  'functions',
  'response_format',
  'text',
  'documents',
  'query',
  'suffix',
  'prediction',
  'inputs',
] as const;

/** What vendors take in words of their own, where they are passed on. */
const vendorsKeys = [
  'toolConfig',
  'inputText',
  'texts',
  'instances',
  'message',
  'chat_history',
  'preamble',
] as const;

/**
 * One pass over a request. Looks at 20,000 values; what lies behind them counts
 * by its bytes, as what was looked at.
 * @param bodyBytes of the whole request
 * @param isVendors it is in whichever words its vendor has
 */
export function measureRequest(
  json: Readonly<JsonObject>,
  bodyBytes: number,
  rule: MediaRule,
  isVendors = false,
): RequestSize {
  const count = new RequestCount(rule);
  const add = (key: string) => {
    if (Object.hasOwn(json, key)) count.add(json[key], key, depthMax);
  };
  for (const key of textKeys) add(key);
  if (isVendors) {
    for (const key of vendorsKeys) add(key);
    // What Gemini embeds, one or many; other vendors' batches and messages have other members there.
    if (member(json.content, 'parts') !== undefined) add('content');
    const first = Array.isArray(json.requests) ? json.requests[0] : undefined;
    if (member(first, 'content') !== undefined) add('requests');
  }
  if (readsOn(json)) count.isOpen = true;
  count.noteMark(json.cache_control);
  return {
    textTokens: count.textTokens(bodyBytes),
    mediaTokens: count.mediaTokens,
    isOpen: count.isOpen,
    outputMax: outputMaxOf(json),
    answers: answersOf(json),
    writesCache: count.writesCache,
  };
}

/** Members that name what the provider has, or let it look for more. */
const openKeys = [
  'previous_response_id',
  'conversation',
  'container',
  'mcp_servers',
  'cachedContent',
  'web_search_options',
  'data_sources',
];

function readsOn(json: Readonly<JsonObject>): boolean {
  if (openKeys.some((key) => json[key] !== undefined && json[key] !== null)) return true;
  return Array.isArray(json.tools) && json.tools.some(isTheProviders);
}

/** A tool that is no function of the caller's. */
function isTheProviders(tool: JsonValue): boolean {
  if (typeof tool !== 'object' || tool === null || Array.isArray(tool)) return false;
  return ![
    tool.function,
    tool.input_schema,
    tool.parameters,
    tool.functionDeclarations,
    tool.toolSpec,
  ].some((schema) => schema !== undefined);
}

class RequestCount {
  readonly text: TextCount = { tokens: 0, bytes: 0 };
  mediaTokens = 0;
  isOpen = false;
  writesCache: CacheLifetime | undefined;
  readonly #rule: MediaRule;
  #valuesLeft = valuesMax;
  /** Beside text: names, quotes, and media as they were sent. */
  #otherBytes = 0;

  constructor(rule: MediaRule) {
    this.#rule = rule;
  }

  add(value: JsonValue | undefined, key: string, depth: number): void {
    if (--this.#valuesLeft < 0) return;
    if (typeof value === 'string') this.#addText(value, key);
    else if (typeof value === 'number' || typeof value === 'boolean') {
      this.text.tokens += 1;
      this.#otherBytes += 4;
    } else if (Array.isArray(value)) this.#addList(value, key, depth);
    else if (typeof value === 'object' && value !== null) this.#addObject(value, key, depth);
  }

  noteMark(mark: JsonValue | undefined): void {
    if (mark === undefined || mark === null || this.writesCache === '1h') return;
    this.writesCache = member(mark, 'ttl') === '1h' ? '1h' : '5m';
  }

  /** What stands behind the last value that was looked at is as dense as what stands before it. Never more than bytes. */
  textTokens(bodyBytes: number): number {
    const { tokens, bytes } = this.text;
    if (tokens === 0) return 0;
    const unseen = this.#valuesLeft >= 0 ? 0 : bodyBytes - bytes - this.#otherBytes;
    const all = tokens + frameTokens + (Math.max(0, unseen) * tokens) / Math.max(1, bytes);
    return Math.ceil(Math.min(all, bodyBytes));
  }

  #addList(list: JsonValue[], key: string, depth: number): void {
    // A prompt may be given as token ids.
    if (typeof list[0] === 'number') {
      this.text.tokens += list.length;
      this.#otherBytes += list.length * 4;
      return;
    }
    if (depth === 0) return;
    for (const entry of list) {
      if (this.#valuesLeft < 0) return;
      this.add(entry, key, depth - 1);
    }
  }

  #addObject(value: JsonObject, key: string, depth: number): void {
    if (turnKeys.has(key)) this.text.tokens += turnTokens;
    this.noteMark(value.cache_control ?? value.cachePoint);
    if (this.#addMedia(value, key)) return;
    if (depth === 0) return;
    // Names of schemas are read by the model, and so are those of arguments; those of turns and parts cost less.
    const isFormat = formatKeys.has(key);
    for (const name in value) {
      if (this.#valuesLeft < 0) return;
      if (!Object.hasOwn(value, name)) continue;
      if (isFormat) this.#otherBytes += name.length + 4;
      else {
        this.text.tokens += memberTokens;
        countText(name, this.text);
      }
      this.add(value[name], name, depth - 1);
    }
  }

  #addText(text: string, key: string): void {
    if (mediaKeys.has(key) && (key === 'b64_json' || text.startsWith('data:')))
      this.#addData(text, key, undefined);
    else if (key !== 'role' && key !== 'type') countText(text, this.text);
    else this.#otherBytes += text.length;
  }

  /** True = it was a part that is no text, and is counted. */
  #addMedia(part: JsonObject, key: string): boolean {
    const kind = mediaKindOf(part, key);
    if (kind === undefined) return false;
    const { data, type, isLow, reference, framesPerSecond } = kind;
    if (reference) {
      this.isOpen = true;
      this.mediaTokens += namedTokens(this.#rule, kind);
    } else this.#addData(data, type, isLow, framesPerSecond);
    return true;
  }

  #addData(text: string, type: string, isLow: boolean | undefined, framesPerSecond?: number): void {
    const comma = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
    const base64 = comma === 0 ? text : text.slice(comma, comma + 128 * 1024);
    const kind = comma === 0 ? type : text.slice(5, comma);
    const bytes = ((text.length - comma) * 3) / 4;
    this.#otherBytes += text.length;
    if (isVideo(kind)) {
      const seconds = secondsOfVideo(bytesOfBase64(text, comma));
      this.mediaTokens += videoTokens(this.#rule, seconds, framesPerSecond);
    } else if (isSound(kind)) {
      const seconds = secondsOfSound(bytesOfBase64(text, comma), kind);
      this.mediaTokens += soundTokens(this.#rule, seconds);
    } else if (isDocument(kind)) this.mediaTokens += documentTokens(this.#rule, bytes);
    else {
      const size = pictureSize(base64);
      const picture: Picture = {
        width: size?.width,
        height: size?.height,
        isLow: isLow === true,
      };
      this.mediaTokens += pictureTokens(this.#rule, picture);
    }
  }
}

/** Whose entries have something around them of their own. */
const turnKeys: ReadonlySet<string> = new Set([
  'messages',
  'contents',
  'input',
  'tools',
  'functions',
]);

/** Holders of turns and parts: the names in them are the format's, not the model's. */
const formatKeys: ReadonlySet<string> = new Set([
  'messages',
  'contents',
  'input',
  'content',
  'parts',
]);

/** Where data stand by themselves; elsewhere a text that begins as they do is text, to whoever reads and charges it. */
const mediaKeys: ReadonlySet<string> = new Set([
  'b64_json',
  'image',
  'images',
  'image_base64',
  'mask',
  'audio',
  'video',
  'document_url',
  'url',
]);

/** Of what stands somewhere else. */
function namedTokens(rule: MediaRule, { type, isLow, framesPerSecond }: Media): number {
  if (isVideo(type)) return videoTokens(rule, secondsOfVideo(undefined), framesPerSecond);
  if (isDocument(type)) return documentTokens(rule, undefined);
  return pictureTokens(rule, { width: undefined, height: undefined, isLow });
}

function isVideo(type: string): boolean {
  return /^(?:video|data:video)/.test(type);
}

function isSound(type: string): boolean {
  return /audio|wav|mp3|pcm|flac|ogg|opus|aac/.test(type);
}

function isDocument(type: string): boolean {
  return /pdf|document|file|text\//.test(type);
}

interface Media {
  data: string;
  type: string;
  isLow: boolean;
  /** It is named, not sent. */
  reference: boolean;
  /** Of a video. */
  framesPerSecond?: number | undefined;
}

/**
 * The part's own data, however its format writes it.
 * @param key under which the part stands
 */
function mediaKindOf(part: JsonObject, key: string): Media | undefined {
  const image = part.image_url;
  if (image !== undefined) {
    const url = typeof image === 'string' ? image : member(image, 'url');
    const detail = part.detail ?? (typeof image === 'string' ? undefined : member(image, 'detail'));
    return typeof url === 'string' ? named(url, 'image', detail === 'low') : undefined;
  }
  const video = part.video_url;
  if (video !== undefined) {
    const url = typeof video === 'string' ? video : member(video, 'url');
    return typeof url === 'string' ? named(url, 'video', false) : undefined;
  }
  const sound = member(part.input_audio, 'data');
  if (typeof sound === 'string') {
    const type = `audio/${member(part.input_audio, 'format')}`;
    return { data: sound, type, isLow: false, reference: false };
  }
  const inline = part.inlineData ?? part.inline_data ?? part.source;
  const data = member(inline, 'data');
  if (typeof data === 'string') {
    const type =
      member(inline, 'mimeType') ?? member(inline, 'mime_type') ?? member(inline, 'media_type');
    // A document of plain text is text.
    if (member(inline, 'type') === 'text') return undefined;
    const framesPerSecond = framesAsked(part);
    return { data, type: String(type ?? 'image'), isLow: false, reference: false, framesPerSecond };
  }
  // Converse says by its name what a part is.
  const bytes = member(inline, 'bytes');
  if (typeof bytes === 'string')
    return { data: bytes, type: `${key}/${part.format}`, isLow: false, reference: false };
  const file = member(part.file, 'file_data') ?? part.file_data;
  if (typeof file === 'string') return named(file, 'file', false);
  const { source } = part;
  const fileData = part.fileData ?? part.file_data;
  const reference =
    member(source, 'url') ??
    member(source, 'file_id') ??
    member(member(source, 's3Location'), 'uri') ??
    member(fileData, 'fileUri') ??
    member(fileData, 'file_uri') ??
    member(part.file, 'file_id') ??
    part.file_id ??
    part.file_url;
  if (typeof reference !== 'string') return undefined;
  const told = member(fileData, 'mimeType') ?? member(fileData, 'mime_type') ?? part.type;
  const type = String(told ?? (key === 'video' || key === 'image' ? key : 'file'));
  const framesPerSecond = framesAsked(part);
  return { data: '', type, isLow: false, reference: true, framesPerSecond };
}

/** Of a video, by Gemini's words; undefined = nobody asks. */
function framesAsked(part: JsonObject): number | undefined {
  const frames = member(part.videoMetadata ?? part.video_metadata, 'fps');
  return typeof frames === 'number' ? frames : undefined;
}

function named(text: string, type: string, isLow: boolean): Media {
  return { data: text, type, isLow, reference: !text.startsWith('data:') };
}

function member(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value[name]
    : undefined;
}

const limitKeys = [
  'max_completion_tokens',
  'max_tokens',
  'max_output_tokens',
  'maxOutputTokens',
  'maxTokens',
];

function outputMaxOf(json: Readonly<JsonObject>): number | undefined {
  return (
    limitIn(json as JsonObject) ?? limitIn(json.generationConfig) ?? limitIn(json.inferenceConfig)
  );
}

function limitIn(holder: JsonValue | undefined): number | undefined {
  if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) return undefined;
  for (const key of limitKeys) {
    const limit = holder[key];
    if (typeof limit === 'number' && limit > 0) return Math.ceil(limit);
  }
  return undefined;
}

function answersOf(json: Readonly<JsonObject>): number {
  const asked = json.best_of ?? json.n ?? member(json.generationConfig, 'candidateCount');
  const each = typeof asked === 'number' && asked > 1 ? Math.min(Math.ceil(asked), answersMax) : 1;
  return each * promptsIn(json);
}

/** Completions answer each of a list of prompts; a list of numbers is one, in tokens. */
function promptsIn({ prompt }: Readonly<JsonObject>): number {
  if (!Array.isArray(prompt) || typeof prompt[0] === 'number') return 1;
  return Math.min(Math.max(prompt.length, 1), promptsMax);
}

/** More than any vendor takes. */
const answersMax = 128;
const promptsMax = 10_000;
