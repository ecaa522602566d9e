/**
 * Files of AWS Bedrock: objects in a bucket of the customer's. Large ones go up
 * in parts, each signed with its bytes.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations.html, November 2026
 */
import { GatewayError } from '@sluice/errors';
import { regionOf } from '../addresses/bedrock.ts';
import type { AuthRecipe, CallFacts } from '../call-facts.ts';
import type { FileAnswer, FileRequest, FilesUse, VendorFiles } from '../vendor-files.ts';
import { deletedFile, fileObject, inBlocks, secondsOf, VendorRefusal } from './file-objects.ts';
import {
  checkedBucket,
  checkedKey,
  keyPath,
  type ObjectPlace,
  objectId,
  placeOf,
} from './object-uri.ts';

const bucketSetting = 'aws-s3-bucket';
const keySettings = ['aws-s3-object-key', 'provider-file-name'] as const;
/** The least that a part may have. Ten thousand of them are 50 GB. */
const partBytes = 5 * 1024 * 1024;
const partsMax = 10_000;
const auth: AuthRecipe = { type: 'aws', service: 's3' };

export const s3Files: VendorFiles = {
  rewritesRows: true,
  base(facts, id) {
    const { bucket } = id === undefined ? placeOfUpload(facts, '') : placeAllowed(facts, id);
    const region = regionOf(facts.setting);
    const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
    // A dot in a name would be one label more than certificates are for.
    return bucket.includes('.')
      ? `https://s3.${region}.${domain}/${bucket}`
      : `https://${bucket}.s3.${region}.${domain}`;
  },
  claims: (facts, name) => objectId('s3', placeOfUpload(facts, name)),
  async upload(file, use) {
    const place = placeOfUpload(use.facts, use.name);
    const { url } = objectAt(place, use);
    const headers = {
      ...encryption(use.facts),
      'content-type': file.contentType ?? 'application/octet-stream',
    };
    const blocks = inBlocks(file.content, partBytes);
    let bytes = 0;
    const { value: first = Buffer.alloc(0) } = await blocks.next();
    if (first.length < partBytes) {
      await file.ended;
      bytes = first.length;
      await use.ask({ method: 'PUT', url, headers, body: first, auth });
    } else bytes = await uploadParts({ url, headers, first, rest: blocks, ended: file.ended }, use);
    const texts = await file.ended;
    return fileObject({
      id: objectId('s3', place),
      bytes,
      createdAt: Math.floor(use.nowMs / 1000),
      filename: file.filename || nameOf(place.key),
      purpose: texts.get('purpose') ?? 'batch',
    });
  },
  async retrieve(id, use) {
    const { place, url } = objectOf(id, use);
    const { headers } = await use.ask({ method: 'HEAD', url, auth });
    return fileObject({
      id: objectId('s3', place),
      bytes: Number(headers['content-length'] ?? 0),
      createdAt: secondsOf(headers['last-modified']),
      filename: nameOf(place.key),
      purpose: 'batch',
    });
  },
  content: (id, use) => ({ method: 'GET', url: objectOf(id, use).url, auth }),
  async delete(id, use) {
    const { place, url } = objectOf(id, use);
    await use.ask({ method: 'DELETE', url, auth });
    return deletedFile(objectId('s3', place));
  },
};

/** In parts, each sent when it is whole. What was begun and not ended is taken back: S3 bills it otherwise. */
async function uploadParts(large: LargeFile, use: FilesUse): Promise<number> {
  const { url, headers, rest, ended } = large;
  const begun = await use.ask({ method: 'POST', url: `${url}?uploads=`, headers, auth });
  const uploadId = elementOf(begun, 'UploadId');
  if (uploadId === undefined) throw unreadable('said no id of the upload');
  const query = `uploadId=${encodeURIComponent(uploadId)}`;
  const tags: string[] = [];
  let bytes = 0;
  const send = async (body: Buffer) => {
    if (tags.length === partsMax)
      throw new GatewayError('file.too_large', {
        field: 'body.file',
        message: `A file may have ${partsMax * partBytes} bytes here.`,
      });
    bytes += body.length;
    const part: FileRequest = {
      method: 'PUT',
      url: `${url}?partNumber=${tags.length + 1}&${query}`,
      body,
      auth,
    };
    const { etag } = (await use.ask(part)).headers;
    if (typeof etag !== 'string') throw unreadable('said no tag of a part');
    tags.push(etag);
  };
  try {
    await send(large.first);
    // Held no longer than it takes to send it.
    large.first = Buffer.alloc(0);
    for await (const block of rest) await send(block);
    await ended;
    const parts = tags.map(
      (tag, index) =>
        `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`,
    );
    const answer = await use.ask({
      method: 'POST',
      url: `${url}?${query}`,
      headers: { 'content-type': 'application/xml' },
      body: Buffer.from(
        `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join('')}</CompleteMultipartUpload>`,
      ),
      auth,
    });
    // It begins its answer before it knows how it ends.
    if (elementOf(answer, 'Code') !== undefined)
      throw new VendorRefusal({ ...answer, status: 500 }, answer.bytes);
    return bytes;
  } catch (error) {
    await use.tidy({ method: 'DELETE', url: `${url}?${query}`, auth });
    throw error;
  }
}

interface LargeFile {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  first: Buffer;
  readonly rest: AsyncGenerator<Buffer, void>;
  readonly ended: Promise<unknown>;
}

function placeOfUpload({ setting }: CallFacts, name: string): ObjectPlace {
  const bucket = checkedBucket(bucketSetting, setting(bucketSetting));
  const named = keySettings.find((key) => setting(key) !== undefined);
  return { bucket, key: named === undefined ? name : checkedKey(named, setting(named) ?? '') };
}

/** An admin's credential opens an admin's bucket, and no other that it could open. */
function placeAllowed({ setting, accountIsSettled }: CallFacts, id: string): ObjectPlace {
  const place = placeOf('s3', id);
  if (accountIsSettled !== true) return place;
  if (place.bucket !== checkedBucket(bucketSetting, setting(bucketSetting)))
    throw new GatewayError('file.not_found', {
      field: 'path.file_id',
      message: 'The file is in another bucket than the one that is set for this provider.',
    });
  return place;
}

function objectOf(id: string, use: FilesUse) {
  return objectAt(placeAllowed(use.facts, id), use);
}

/** At a custom host the bucket is the first segment, as at any server that speaks like S3. */
function objectAt(place: ObjectPlace, { base, hasCustomHost }: FilesUse) {
  const path = hasCustomHost ? `/${place.bucket}/${keyPath(place.key)}` : `/${keyPath(place.key)}`;
  return { place, url: `${base}${path}` };
}

function encryption({ setting }: CallFacts): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of ['server-side-encryption', 'server-side-encryption-aws-kms-key-id']) {
    const value = setting(`amz-${name}`);
    if (value !== undefined) headers[`x-amz-${name}`] = value;
  }
  return headers;
}

const nameOf = (key: string) => key.slice(key.lastIndexOf('/') + 1);

function elementOf({ bytes }: FileAnswer, name: string): string | undefined {
  const text = bytes.toString('utf8', 0, 16_384);
  return new RegExp(`<${name}>([^<]{1,1024})</${name}>`).exec(text)?.[1]?.replaceAll('&amp;', '&');
}

function unreadable(what: string): GatewayError {
  return new GatewayError('upstream.invalid_response', {
    message: `The bucket’s service ${what}.`,
  });
}
