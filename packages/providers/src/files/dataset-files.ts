/**
 * Files of vendors that keep datasets: each has one, under an id of its own.
 */
import { GatewayError } from '@sluice/errors';
import { requiredSetting } from '../address.ts';
import type { JsonObject } from '../contract.ts';
import { arrayOf, objectOf, parseJson, stringOf } from '../json/json-access.ts';
import type {
  ArrivingFile,
  FileAnswer,
  FileRequest,
  FilesUse,
  VendorFiles,
} from '../vendor-files.ts';
import { counted, deletedFile, fileObject, secondsOf } from './file-objects.ts';
import { formUpload } from './form-upload.ts';

const json = { 'content-type': 'application/json' };
const one = (id: string) => encodeURIComponent(id);

function documentOf({ bytes }: FileAnswer): JsonObject {
  return objectOf(parseJson(bytes.toString('utf8'))) ?? {};
}

/**
 * Fireworks: a dataset is made, its file goes to an address that is signed for
 * its exact length, and the dataset is told. Where nobody said the length, in one
 * request, which takes 150 MB at most.
 * https://docs.fireworks.ai/api-reference/upload-dataset-files, November 2026
 */
export const fireworksFiles: VendorFiles = {
  base: () => 'https://api.fireworks.ai/v1',
  async upload(file, use) {
    const id = `file-${use.name}`;
    const filename = file.filename || 'file.jsonl';
    await use.ask({
      method: 'POST',
      url: datasets(use),
      headers: json,
      body: bodyOf({ datasetId: id, dataset: { displayName: filename, userUploaded: {} } }),
    });
    try {
      const length = use.facts.setting('file-upload-size');
      const bytes =
        length === undefined
          ? await uploadInOne(file, id, use)
          : await uploadSigned(file, id, filename, readLength(length), use);
      const texts = await file.ended;
      return fileObject({
        id,
        bytes,
        createdAt: Math.floor(use.nowMs / 1000),
        filename,
        purpose: texts.get('purpose') ?? 'fine-tune',
        status: 'uploaded',
      });
    } catch (error) {
      await use.tidy({ method: 'DELETE', url: datasets(use, id) });
      throw error;
    }
  },
  retrieve: async (id, use) =>
    fireworksFile(documentOf(await use.ask({ method: 'GET', url: datasets(use, id) }))),
  async content(id, use): Promise<FileRequest> {
    const url = `${datasets(use, id)}:getDownloadEndpoint`;
    const { filenameToSignedUrls } = documentOf(await use.ask({ method: 'GET', url }));
    const [signed] = Object.values(objectOf(filenameToSignedUrls) ?? {});
    return { method: 'GET', url: addressOf(signed) };
  },
  list: (query, use) =>
    pageAfter(query, async (limit, { token }) => {
      const page = new URLSearchParams({
        pageSize: String(limit),
        ...(token && { pageToken: token }),
      });
      const { datasets: items, nextPageToken } = documentOf(
        await use.ask({ method: 'GET', url: `${datasets(use)}?${page}` }),
      );
      return {
        items: (arrayOf(items) ?? []).map((item) => fireworksFile(objectOf(item) ?? {})),
        token: stringOf(nextPageToken) || undefined,
      };
    }),
  async delete(id, use) {
    await use.ask({ method: 'DELETE', url: datasets(use, id) });
    return deletedFile(id);
  },
};

function datasets({ base, facts }: FilesUse, id?: string): string {
  const account = requiredSetting(facts.setting, 'fireworks-account-id');
  return `${base}/accounts/${account}/datasets${id === undefined ? '' : `/${one(id)}`}`;
}

async function uploadInOne(file: ArrivingFile, id: string, use: FilesUse & { name: string }) {
  const { content, bytes } = counted(file.content);
  const form = formUpload({ ...file, content }, use.name, { fields: () => ({}) });
  await use.ask({
    method: 'POST',
    url: `${datasets(use, id)}:upload`,
    headers: { 'content-type': form.contentType },
    body: form.body,
  });
  return bytes();
}

async function uploadSigned(
  file: ArrivingFile,
  id: string,
  filename: string,
  length: number,
  use: FilesUse,
): Promise<number> {
  const { filenameToSignedUrls } = documentOf(
    await use.ask({
      method: 'POST',
      url: `${datasets(use, id)}:getUploadEndpoint`,
      headers: json,
      body: bodyOf({ filenameToSize: { [filename]: length } }),
    }),
  );
  const [signed] = Object.values(objectOf(filenameToSignedUrls) ?? {});
  await use.ask({
    method: 'PUT',
    url: addressOf(signed),
    headers: {
      'content-type': 'application/octet-stream',
      'content-length': String(length),
      'x-goog-content-length-range': `${length},${length}`,
    },
    body: ofLength(file.content, length),
  });
  await file.ended;
  await use.ask({
    method: 'POST',
    url: `${datasets(use, id)}:validateUpload`,
    headers: json,
    body: Buffer.from('{}'),
  });
  return length;
}

const lengthSetting = 'file-upload-size';

function readLength(text: string): number {
  if (/^\d{1,13}$/.test(text)) return Number(text);
  throw wrongLength('must be the length of the file in bytes');
}

function wrongLength(what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `x-service-${lengthSetting}`,
    message: `x-service-${lengthSetting} ${what}.`,
  });
}

/** @throws GatewayError where it is another than was said */
async function* ofLength(content: AsyncIterable<Buffer>, length: number) {
  let bytes = 0;
  for await (const piece of content) {
    bytes += piece.length;
    if (bytes > length) throw wrongLength(`says ${length} bytes, and the file has more`);
    yield piece;
  }
  if (bytes < length) throw wrongLength(`says ${length} bytes, and the file has ${bytes}`);
}

function fireworksFile(dataset: JsonObject): JsonObject {
  const name = stringOf(dataset.name) ?? '';
  return {
    ...fileObject({
      id: name.slice(name.lastIndexOf('/') + 1),
      // It counts examples, and no bytes.
      bytes: 0,
      createdAt: secondsOf(dataset.createTime),
      filename: stringOf(dataset.displayName) ?? '',
      purpose: 'fine-tune',
      status: dataset.state === 'READY' ? 'processed' : 'uploaded',
    }),
    example_count: Number(stringOf(dataset.exampleCount) ?? 0),
  };
}

/** https://docs.cohere.com/reference/create-dataset, November 2026: an embed job reads one, and writes another. */
export const cohereFiles: VendorFiles = {
  rewritesRows: true,
  async upload(file, use) {
    const purpose = use.facts.setting('file-purpose') ?? file.texts.get('purpose');
    const name = use.facts.setting('provider-file-name') ?? (file.filename || use.name);
    const query = new URLSearchParams({
      name: name.slice(0, 200),
      type: purpose === 'fine-tune' ? 'chat-finetune-input' : 'embed-input',
    });
    // What tells rows apart is kept beside their texts.
    if (purpose !== 'fine-tune') query.set('keep_fields', 'custom_id');
    const { content, bytes } = counted(file.content);
    const filename = /\.(?:jsonl|csv)$/i.test(file.filename) ? file.filename : 'rows.jsonl';
    const form = formUpload({ ...file, filename, content }, use.name, {
      field: 'data',
      fields: () => ({}),
    });
    const made = documentOf(
      await use.ask({
        method: 'POST',
        url: `${use.base}/v1/datasets?${query}`,
        headers: { 'content-type': form.contentType },
        body: form.body,
      }),
    );
    return fileObject({
      id: stringOf(made.id) ?? '',
      bytes: bytes(),
      createdAt: Math.floor(use.nowMs / 1000),
      filename: file.filename || name,
      purpose: (await file.ended).get('purpose') ?? 'batch',
      status: 'uploaded',
    });
  },
  async retrieve(id, use) {
    return cohereFile(await cohereDataset(id, use));
  },
  async content(id, use): Promise<FileRequest> {
    const [url, ...others] = addressesOfDataset(await cohereDataset(id, use));
    if (url === undefined || others.length > 0)
      throw new GatewayError('provider.endpoint_unsupported', {
        message: `The dataset has ${url === undefined ? 0 : others.length + 1} parts, each of them a file of its own: their addresses are in the dataset (GET /v1/proxy/v1/datasets/${one(id)}); the rows of a batch are its output (GET /v1/batches/{id}/output).`,
      });
    return { method: 'GET', url };
  },
  list: (query, use) =>
    pageAfter(query, async (limit, { offset }) => {
      const page = new URLSearchParams({ limit: String(limit), offset: String(offset) });
      const { datasets: items } = documentOf(
        await use.ask({ method: 'GET', url: `${use.base}/v1/datasets?${page}` }),
      );
      const files = (arrayOf(items) ?? []).map((item) => cohereFile(objectOf(item) ?? {}));
      return { items: files, token: files.length < limit ? undefined : 'more' };
    }),
  async delete(id, use) {
    await use.ask({ method: 'DELETE', url: `${use.base}/v1/datasets/${one(id)}` });
    return deletedFile(id);
  },
};

async function cohereDataset(id: string, use: FilesUse): Promise<JsonObject> {
  const url = `${use.base}/v1/datasets/${one(id)}`;
  return objectOf(documentOf(await use.ask({ method: 'GET', url })).dataset) ?? {};
}

/** Where the parts of one lie, in their order. @throws GatewayError where it does not say so */
export function addressesOfDataset({ dataset_parts: parts }: JsonObject): string[] {
  const index = (part: JsonObject | undefined) => Number(part?.index ?? 0);
  return (arrayOf(parts) ?? [])
    .map(objectOf)
    .toSorted((part, other) => index(part) - index(other))
    .map((part) => addressOf(part?.url));
}

const cohereStates: Readonly<Record<string, 'processed' | 'error'>> = {
  validated: 'processed',
  skipped: 'processed',
  failed: 'error',
};

function cohereFile(dataset: JsonObject): JsonObject {
  const parts = arrayOf(dataset.dataset_parts) ?? [];
  const bytes = parts.reduce<number>((sum, part) => {
    const size = objectOf(part)?.size_bytes;
    return sum + (typeof size === 'number' ? size : 0);
  }, 0);
  return fileObject({
    id: stringOf(dataset.id) ?? '',
    bytes,
    createdAt: secondsOf(dataset.created_at),
    filename: stringOf(dataset.name) ?? '',
    purpose: /-(?:result|output)$/.test(stringOf(dataset.dataset_type) ?? '')
      ? 'batch_output'
      : 'batch',
    status: cohereStates[stringOf(dataset.validation_status) ?? ''] ?? 'uploaded',
  });
}

interface VendorPage {
  readonly items: readonly JsonObject[];
  /** Leads to the next one; undefined = this was the last. */
  readonly token: string | undefined;
}

const pageBytesUsual = 100;
const pagesMax = 50;

/** OpenAI's clients go on after an id, where these vendors go on by a page: the pages before it are looked through. */
async function pageAfter(
  query: URLSearchParams,
  ask: (limit: number, from: { token: string | undefined; offset: number }) => Promise<VendorPage>,
): Promise<JsonObject> {
  const limit = Math.min(Math.max(1, Number(query.get('limit')) || pageBytesUsual), 200);
  const after = query.get('after');
  const data: JsonObject[] = [];
  let isFound = after === null;
  let token: string | undefined;
  let offset = 0;
  let hasMore = false;
  for (let page = 0; page < pagesMax; page++) {
    const { items, token: next } = await ask(limit, { token, offset });
    for (const item of items) {
      if (isFound && data.length < limit) data.push(item);
      else if (isFound) hasMore = true;
      isFound ||= item.id === after;
    }
    token = next;
    offset += items.length;
    if (token === undefined || data.length === limit) break;
  }
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore || token !== undefined,
  };
}

function addressOf(url: unknown): string {
  if (typeof url === 'string' && URL.canParse(url)) return url;
  throw new GatewayError('upstream.invalid_response', {
    message: 'The provider said no address of the file.',
  });
}

function bodyOf(document: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(document));
}
