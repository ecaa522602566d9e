import { storedId, uuidOfStored } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { Reply } from '../exchange/reply.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { keptAs, named, type StoredOwner, sendContent } from './files.ts';
import { presentUpload } from './present.ts';
import type { StoredRegister } from './register.ts';
import { jsonReply } from './requests.ts';

const partsMax = 10_000;
/** What half a gigabyte takes on a slow store. */
const completeMs = 10 * 60_000;

/** https://platform.openai.com/docs/api-reference/uploads */
export async function createUpload(
  arrival: ArrivedRequest,
  owner: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const body = parseJsonBody(await arrival.readBody());
  const { filename, purpose, bytes, mime_type: type, expires_after: expiry } = body;
  if (typeof filename !== 'string' || filename === '')
    throw invalid('filename', 'must be the name of the file');
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw invalid('bytes', 'must be how many bytes the file has');
  if (type !== undefined && typeof type !== 'string') throw invalid('mime_type', 'must be a text');
  if (
    expiry !== undefined &&
    (typeof expiry !== 'object' || expiry === null || Array.isArray(expiry))
  )
    throw invalid('expires_after', 'must be an object');
  const kept = keptAs(purpose, expiry ?? {});
  const { upload } = await register.askContents(register.contents.createUpload, {
    owner,
    filename: named(filename),
    purpose: kept.purpose,
    bytes: BigInt(bytes),
    keptS: kept.expiresAfterS,
  });
  if (upload === undefined) throw new GatewayError('file.unavailable');
  return jsonReply(presentUpload(upload, 'pending'));
}

export async function addPart(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { file } = await sendContent(arrival, register, {
    owner,
    field: 'data',
    uploadId: uploadUuid(id),
    tailOf: () => ({ purpose: 'part', expiresAfterS: 0n }),
  });
  return jsonReply({
    id: storedId('part', file.id),
    object: 'upload.part',
    created_at: Math.floor(Number(file.createdAtMs) / 1000),
    upload_id: id,
  });
}

export async function completeUpload(
  id: string,
  arrival: ArrivedRequest,
  owner: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const { part_ids: given, md5 } = parseJsonBody(await arrival.readBody());
  if (!Array.isArray(given) || given.length > partsMax)
    throw invalid('part_ids', `must be the ids of at most ${partsMax} parts, in their order`);
  if (md5 !== undefined && (typeof md5 !== 'string' || !/^[0-9a-f]{32}$/i.test(md5)))
    throw invalid('md5', 'must be an MD5 in hexadecimal');
  const partIds = given.map((part, index) => {
    const uuid = typeof part === 'string' ? uuidOfStored('part', part) : undefined;
    if (uuid === undefined) throw invalid(`part_ids.${index}`, 'must be the id of a part');
    return uuid;
  });
  const request = { owner, id: uploadUuid(id), partIds, md5: md5 ?? '' };
  const { upload, file } = await register.askContents(
    register.contents.completeUpload,
    request,
    completeMs,
  );
  if (upload === undefined || file === undefined) throw new GatewayError('file.unavailable');
  return jsonReply(presentUpload(upload, 'completed', file));
}

export async function cancelUpload(
  id: string,
  { workspaceId }: StoredOwner,
  register: StoredRegister,
): Promise<Reply> {
  const request = { workspaceId, id: uploadUuid(id) };
  const { upload } = await register.ask(register.uploads.cancelUpload, request);
  if (upload === undefined) throw new GatewayError('upload.not_found');
  return jsonReply(presentUpload(upload, 'cancelled'));
}

function uploadUuid(id: string): string {
  const uuid = uuidOfStored('upload', id);
  if (uuid === undefined)
    throw new GatewayError('upload.not_found', {
      message: `There is no upload ${id.slice(0, 80)} here. Uploads of a provider are asked for by naming it.`,
    });
  return uuid;
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: `body.${field}`,
    message: `body.${field} ${what}.`,
  });
}
