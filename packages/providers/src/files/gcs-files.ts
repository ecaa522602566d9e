/**
 * Files of Vertex AI: objects in a bucket of Cloud Storage, sent up in one
 * resumable upload, a chunk at a time.
 * https://docs.cloud.google.com/storage/docs/performing-resumable-uploads, November 2026
 */
import { GatewayError } from '@sluice/errors';
import type { CallFacts } from '../call-facts.ts';
import type { JsonObject } from '../contract.ts';
import { objectOf, parseJson, stringOf } from '../json/json-access.ts';
import type { FileAnswer, FilesUse, VendorFiles } from '../vendor-files.ts';
import { deletedFile, fileObject, inBlocks, secondsOf } from './file-objects.ts';
import {
  checkedBucket,
  checkedKey,
  escaped,
  type ObjectPlace,
  objectId,
  placeOf,
} from './object-uri.ts';

const bucketSetting = 'vertex-storage-bucket-name';
const keySetting = 'provider-file-name';
/** A multiple of the 256 KiB that chunks are counted in. */
const chunkBytes = 4 * 1024 * 1024;
/** Times that the service may have taken less of a chunk than it was sent. */
const resumesMax = 5;

export const gcsFiles: VendorFiles = {
  rewritesRows: true,
  base: () => 'https://storage.googleapis.com',
  claims: (facts, name) => objectId('gs', placeOfUpload(facts, name)),
  async upload(file, use) {
    const place = placeOfUpload(use.facts, use.name);
    const begun = await use.ask({
      method: 'POST',
      url: `${use.base}/upload/storage/v1/b/${place.bucket}/o?uploadType=resumable&name=${escaped(place.key)}`,
      headers: {
        'content-type': 'application/json',
        'x-upload-content-type': file.contentType ?? 'application/octet-stream',
      },
      body: Buffer.from('{}'),
    });
    const { location } = begun.headers;
    if (typeof location !== 'string' || !URL.canParse(location))
      throw unreadable('said no address to send it to');
    const session = new Session(location, use);
    try {
      for await (const block of inBlocks(file.content, chunkBytes)) {
        if (block.length === chunkBytes) await session.send(block);
        else {
          await file.ended;
          await session.end(block);
        }
      }
      await file.ended;
      const made = session.made ?? (await session.end(Buffer.alloc(0)));
      return presented(made, place, (await file.ended).get('purpose'), file.filename);
    } catch (error) {
      await use.tidy({ method: 'DELETE', url: location });
      throw error;
    }
  },
  async retrieve(id, use) {
    const { place, url } = objectAt(id, use);
    return presented(documentOf(await use.ask({ method: 'GET', url })), place);
  },
  content: (id, use) => ({ method: 'GET', url: `${objectAt(id, use).url}?alt=media` }),
  async delete(id, use) {
    const { place, url } = objectAt(id, use);
    await use.ask({ method: 'DELETE', url });
    return deletedFile(objectId('gs', place));
  },
};

/** One resumable upload. */
class Session {
  readonly #url: string;
  readonly #use: FilesUse;
  #sent = 0;
  #resumes = 0;
  /** What came of it; undefined = it is not over. */
  made: JsonObject | undefined;

  constructor(url: string, use: FilesUse) {
    this.#url = url;
    this.#use = use;
  }

  /** A whole chunk that more may follow. */
  async send(chunk: Buffer): Promise<void> {
    await this.#put(chunk, '*');
  }

  /** The last one, which may be empty. */
  async end(rest: Buffer): Promise<JsonObject> {
    await this.#put(rest, String(this.#sent + rest.length));
    if (this.made === undefined) throw unreadable('did not take the end of the file');
    return this.made;
  }

  /** What the service did not take of a chunk it is sent again. */
  async #put(chunk: Buffer, total: string): Promise<void> {
    const from = this.#sent;
    let rest = chunk;
    do {
      const range = rest.length === 0 ? '*' : `${this.#sent}-${this.#sent + rest.length - 1}`;
      const answer = await this.#use.ask({
        method: 'PUT',
        url: this.#url,
        headers: { 'content-range': `bytes ${range}/${total}` },
        body: rest,
      });
      if (answer.status !== 308) {
        this.#sent = from + chunk.length;
        this.made = documentOf(answer);
        return;
      }
      const taken = takenOf(answer);
      if (taken < this.#sent || taken > from + chunk.length)
        throw unreadable('lost what it had been sent');
      if (taken < from + chunk.length && this.#resumes++ === resumesMax)
        throw unreadable('does not take what it is sent');
      this.#sent = taken;
      rest = chunk.subarray(taken - from);
    } while (rest.length > 0);
  }
}

/** How many bytes it has; no header = none. */
function takenOf({ headers }: FileAnswer): number {
  const last = /^bytes=0-(\d+)$/.exec(String(headers.range ?? ''))?.[1];
  return last === undefined ? 0 : Number(last) + 1;
}

function placeOfUpload({ setting }: CallFacts, name: string): ObjectPlace {
  const bucket = checkedBucket(bucketSetting, setting(bucketSetting));
  const named = setting(keySetting);
  return { bucket, key: named === undefined ? name : checkedKey(keySetting, named) };
}

/** An admin's credential opens an admin's bucket, and no other that it could open. */
function objectAt(id: string, { facts, base }: FilesUse) {
  const place = placeOf('gs', id);
  const { setting, accountIsSettled } = facts;
  if (
    accountIsSettled === true &&
    place.bucket !== checkedBucket(bucketSetting, setting(bucketSetting))
  )
    throw new GatewayError('file.not_found', {
      field: 'path.file_id',
      message: 'The file is in another bucket than the one that is set for this provider.',
    });
  return { place, url: `${base}/storage/v1/b/${place.bucket}/o/${escaped(place.key)}` };
}

function documentOf({ bytes }: FileAnswer): JsonObject {
  return objectOf(parseJson(bytes.toString('utf8'))) ?? {};
}

function presented(
  object: JsonObject,
  place: ObjectPlace,
  purpose = 'batch',
  filename = '',
): JsonObject {
  return fileObject({
    id: objectId('gs', place),
    // 64 bits, and so a text.
    bytes: Number(stringOf(object.size) ?? 0),
    createdAt: secondsOf(object.timeCreated),
    filename: filename || place.key.slice(place.key.lastIndexOf('/') + 1),
    purpose,
  });
}

function unreadable(what: string): GatewayError {
  return new GatewayError('upstream.invalid_response', {
    message: `Cloud Storage ${what}.`,
  });
}
