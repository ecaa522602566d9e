import { isObject, type JsonObject, VendorFault } from '../protocol.ts';

/** A file that somebody sent up, or that a batch came to. */
export interface KeptFile {
  readonly document: JsonObject & { readonly id: string };
  readonly content: Buffer;
}

/** Together; the oldest go. */
const bytesMax = 64 * 1024 * 1024;
const filesMax = 1000;

/** Files as OpenAI's, in memory: https://platform.openai.com/docs/api-reference/files */
export class DemoFiles {
  readonly #files = new Map<string, KeptFile>();
  readonly #now: () => number;
  #made = 0;
  #bytes = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** @throws VendorFault for a form without a file, or without a purpose */
  async upload(body: Buffer, contentType: string): Promise<JsonObject> {
    const form = await formOf(body, contentType);
    const file = form.get('file');
    const purpose = form.get('purpose');
    if (file === null || typeof file === 'string') throw missing('file');
    if (typeof purpose !== 'string' || purpose === '') throw missing('purpose');
    return this.keep(Buffer.from(await file.arrayBuffer()), file.name, purpose).document;
  }

  keep(content: Buffer, filename: string, purpose: string): KeptFile {
    const id = `file-demo${(++this.#made).toString(36).padStart(6, '0')}${this.#now().toString(36)}`;
    const document = {
      id,
      object: 'file',
      bytes: content.length,
      created_at: Math.floor(this.#now() / 1000),
      filename,
      purpose,
      status: 'processed',
    };
    const kept = { document, content };
    this.#files.set(id, kept);
    this.#bytes += content.length;
    for (const oldest of this.#files.keys()) {
      if (this.#bytes <= bytesMax && this.#files.size <= filesMax) break;
      if (oldest !== id) this.#forget(oldest);
    }
    return kept;
  }

  /** @throws VendorFault 404 */
  find(id: string): KeptFile {
    const file = this.#files.get(id);
    if (file === undefined) throw new VendorFault(404, `No such File object: ${id}`);
    return file;
  }

  delete(id: string): JsonObject {
    this.find(id);
    this.#forget(id);
    return { id, object: 'file', deleted: true };
  }

  list(query: URLSearchParams): JsonObject {
    const purpose = query.get('purpose');
    const all = [...this.#files.values()]
      .map(({ document }) => document)
      .filter((document) => purpose === null || document.purpose === purpose);
    return pageOf(all.toReversed(), query);
  }

  #forget(id: string): void {
    this.#bytes -= this.#files.get(id)?.content.length ?? 0;
    this.#files.delete(id);
  }
}

/** What comes behind `after`, newest first. */
export function pageOf(
  newest: readonly (JsonObject & { readonly id: string })[],
  query: URLSearchParams,
): JsonObject {
  const limit = Math.min(Math.max(1, Number(query.get('limit')) || 20), 100);
  const after = query.get('after');
  const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
  const data = newest.slice(from, from + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: newest.length > from + limit,
  };
}

async function formOf(body: Buffer, contentType: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
  } catch {
    throw new VendorFault(400, 'Could not parse multipart form');
  }
}

function missing(param: string): VendorFault {
  return new VendorFault(400, `Missing required parameter: '${param}'.`, { param });
}

/** @throws VendorFault */
export function parsed(text: string): JsonObject {
  try {
    const body: unknown = JSON.parse(text);
    if (isObject(body)) return body;
  } catch {
    // Told below.
  }
  throw new VendorFault(400, 'We could not parse the JSON body of your request.');
}
