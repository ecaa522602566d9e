import { isStoredId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { isObject } from '@sluice/mcp';
import { type JsonObject, type JsonValue, mediaTypeOf } from '@sluice/providers';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { overloaded } from '../http/read-body.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { fileUuid } from './files.ts';
import { sendInstead } from './kept-context.ts';
import type { StoredRegister } from './register.ts';
import { ownerOf } from './stored-owner.ts';

export interface BringFilesParts {
  readonly register: StoredRegister;
  /** Of a request with the files that it names. */
  readonly bytesMax: number;
}

/** It stands in every request that names a file which is kept here. */
const hint = 'file-svc_';
/** What a model is given to read stands there. */
const places = ['input', 'messages'] as const;

/**
 * Files that are kept here are nobody else's to know: where a request gives one to its model by id, the file itself stands in its
 * place, and what follows (checks, estimates, providers) sees that.
 */
export function bringFiles(parts: BringFilesParts): Stage {
  return (exchange, next) => {
    expectModelCall(exchange);
    const { body, json, form } = exchange.subject;
    if (json === undefined || form !== undefined || body?.includes(hint) !== true) return next();
    return bring(exchange, json, parts).then(next);
  };
}

async function bring(
  exchange: ModelExchange,
  json: JsonObject,
  parts: BringFilesParts,
): Promise<void> {
  const files = new Files(exchange, parts);
  const request: JsonObject = { ...json };
  for (const place of places) {
    const value = request[place];
    if (value !== undefined) request[place] = await withFiles(value, `body.${place}`, files);
  }
  if (files.areSome) sendInstead(exchange, request);
}

interface BroughtFile {
  readonly filename: string;
  readonly mediaType: string;
  readonly base64: string;
}

/** The files of one request, each read once, held as bodies are. @throws GatewayError 404, 413, 503 with the field */
class Files {
  readonly #exchange: ModelExchange;
  readonly #parts: BringFilesParts;
  readonly #files = new Map<string, BroughtFile>();
  #bytes: number;

  constructor(exchange: ModelExchange, parts: BringFilesParts) {
    this.#exchange = exchange;
    this.#parts = parts;
    this.#bytes = exchange.subject.body?.length ?? 0;
  }

  get areSome(): boolean {
    return this.#files.size > 0;
  }

  async get(id: string, field: string): Promise<BroughtFile> {
    const known = this.#files.get(id);
    if (known !== undefined) {
      this.#count(known.base64.length, field);
      return known;
    }
    const uuid = fileUuid(id, field);
    const { workspaceId } = ownerOf(this.#exchange);
    const { register } = this.#parts;
    try {
      const { file } = await register.ask(register.files.getFile, { workspaceId, id: uuid });
      if (file === undefined) throw new GatewayError('file.not_found');
      const { filename } = file;
      this.#count(Math.ceil(Number(file.bytes) / 3) * 4, field);
      const pieces: Buffer[] = [];
      for await (const piece of register.content(workspaceId, uuid)) pieces.push(piece);
      const mediaType = mediaTypeOf({ filename, contentType: undefined });
      const brought = { filename, mediaType, base64: Buffer.concat(pieces).toString('base64') };
      this.#files.set(id, brought);
      return brought;
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status >= 500) throw error;
      throw new GatewayError(error.code, { field, message: error.message, cause: error });
    }
  }

  #count(bytes: number, field: string): void {
    const { bytesMax } = this.#parts;
    this.#bytes += bytes;
    if (this.#bytes > bytesMax)
      throw new GatewayError('request.too_large', {
        field,
        message: `With the files that it names the request is larger than ${bytesMax} bytes.`,
      });
    if (!this.#exchange.arrival.holdBytes(bytes)) throw overloaded();
  }
}

async function withFiles(value: JsonValue, path: string, files: Files): Promise<JsonValue> {
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const [at, item] of value.entries())
      items.push(await withFiles(item, `${path}[${at}]`, files));
    return items;
  }
  if (!isObject(value)) return value;
  // What a model said to a tool is its own.
  if (typeof value.type === 'string' && /(?:tool_use|_call)$/.test(value.type)) return value;
  const brought = await inPlace(value, path, files);
  if (brought !== undefined) return brought;
  const members: JsonObject = {};
  for (const [name, member] of Object.entries(value))
    if (member !== undefined) members[name] = await withFiles(member, `${path}.${name}`, files);
  return members;
}

/** The part as its format says it of a file that is sent along; undefined = it is no part that names one of ours. */
async function inPlace(
  part: JsonObject,
  path: string,
  files: Files,
): Promise<JsonObject | undefined> {
  const { type, file_id: id, ...rest } = part;
  if (type === 'input_file' && isOurs(id)) {
    const file = await files.get(id, `${path}.file_id`);
    return { type, filename: file.filename, ...rest, file_data: dataUrl(file) };
  }
  if (type === 'input_image' && isOurs(id))
    return { type, ...rest, image_url: dataUrl(await files.get(id, `${path}.file_id`)) };
  if (type === 'file' && isObject(part.file) && isOurs(part.file.file_id)) {
    const { file_id: named, ...more } = part.file;
    const file = await files.get(String(named), `${path}.file.file_id`);
    return { ...part, file: { filename: file.filename, ...more, file_data: dataUrl(file) } };
  }
  const { source } = part;
  if (!isObject(source) || source.type !== 'file' || !isOurs(source.file_id)) return undefined;
  const file = await files.get(source.file_id, `${path}.source.file_id`);
  return { ...part, source: sourceOf(file) };
}

function isOurs(id: JsonValue | undefined): id is string {
  return typeof id === 'string' && isStoredId('file', id);
}

function dataUrl({ mediaType, base64 }: BroughtFile): string {
  return `data:${mediaType};base64,${base64}`;
}

/** Of Anthropic's: texts are no base64. */
function sourceOf({ mediaType, base64 }: BroughtFile): JsonObject {
  if (!/^(?:text\/|application\/json$)/.test(mediaType))
    return { type: 'base64', media_type: mediaType, data: base64 };
  const data = Buffer.from(base64, 'base64').toString('utf8');
  return { type: 'text', media_type: 'text/plain', data };
}
