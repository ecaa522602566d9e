/**
 * Anthropic's Files: https://platform.claude.com/docs/en/api/beta/files, and the
 * vendor's SDKs: 0.81 knows them by a beta's header, which 1.11 does not send any
 * more, and pages by ids where that one has a cursor. November 2026. A caller who says which version of its API
 * it speaks, as its own clients do, speaks to it unchanged.
 */
import type { JsonObject } from '../contract.ts';
import { arrayOf, objectOf, parseJson, stringOf } from '../json/json-access.ts';
import type { FileAnswer, FilesUse, VendorFiles } from '../vendor-files.ts';
import { deletedFile, fileObject, secondsOf } from './file-objects.ts';
import { formUpload } from './form-upload.ts';
import { mediaTypeOf } from './media-type.ts';

const beta = { 'anthropic-beta': 'files-api-2025-04-14' };
const pageUsual = 20;
const pageMax = 1000;

export const anthropicFiles: VendorFiles = {
  isNative: (headers) => headers['anthropic-version'] !== undefined,
  async upload(file, use) {
    const contentType = mediaTypeOf(file);
    const form = formUpload({ ...file, contentType }, use.name, {
      fields: (texts): Record<string, string> => {
        const seconds = texts.get('expires_after[seconds]');
        return seconds === undefined ? {} : { expires_in_seconds: seconds };
      },
    });
    const answer = await use.ask({
      method: 'POST',
      url: `${use.base}/files`,
      headers: { ...beta, 'content-type': form.contentType },
      body: form.body,
    });
    const texts = await file.ended;
    return presented(documentOf(answer), texts.get('purpose'));
  },
  retrieve: async (id, use) => presented(documentOf(await get(use, `/files/${one(id)}`))),
  content: (id, { base }) => ({
    method: 'GET',
    url: `${base}/files/${one(id)}/content`,
    headers: beta,
  }),
  async list(query, use) {
    // Where OpenAI pages by `after`, this one does by the id that a page is to follow.
    const wanted = new URLSearchParams();
    const limit = Number(query.get('limit') ?? pageUsual);
    wanted.set('limit', String(Math.min(Math.max(1, limit || pageUsual), pageMax)));
    const after = query.get('after');
    if (after !== null) wanted.set('after_id', after);
    const page = documentOf(await get(use, `/files?${wanted}`));
    const data = (arrayOf(page.data) ?? []).map((item) => presented(objectOf(item) ?? {}));
    return {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: page.has_more === true || typeof page.next_page === 'string',
    };
  },
  async delete(id, use) {
    await use.ask({ method: 'DELETE', url: `${use.base}/files/${one(id)}`, headers: beta });
    return deletedFile(id);
  },
};

function get(use: FilesUse, path: string): Promise<FileAnswer> {
  return use.ask({ method: 'GET', url: `${use.base}${path}`, headers: beta });
}

const one = (id: string) => encodeURIComponent(id);

function documentOf({ bytes }: FileAnswer): JsonObject {
  return objectOf(parseJson(bytes.toString('utf8'))) ?? {};
}

/** Anthropic keeps no purpose; who asks later is told what files are there for. */
function presented(file: JsonObject, purpose = 'user_data'): JsonObject {
  return {
    ...fileObject({
      id: stringOf(file.id) ?? '',
      bytes: typeof file.size_bytes === 'number' ? file.size_bytes : 0,
      createdAt: secondsOf(file.created_at),
      filename: stringOf(file.filename) ?? '',
      purpose,
    }),
    expires_at: secondsOf(file.expires_at) || null,
    mime_type: stringOf(file.mime_type) ?? null,
    downloadable: file.downloadable === true,
  };
}
