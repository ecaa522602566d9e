import type { JsonObject, JsonValue, ObjectFamily } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { CallFacts } from '../call-facts.ts';
import { placeOf } from '../files/object-uri.ts';
import { objectOf, parseJson } from '../json/json-access.ts';
import type { JobAnswer, JobsByFamily, VendorJobs } from '../vendor-jobs.ts';

export function readDocument(bytes: Buffer): JsonObject {
  const document = objectOf(parseJson(bytes.toString('utf8')));
  // Vendors answer a stop or a cancel with nothing.
  if (document === undefined && bytes.length > 0)
    throw new GatewayError('upstream.invalid_response');
  return document ?? {};
}

export const one = (segment: string) => encodeURIComponent(segment);

/** @throws GatewayError `request.invalid_field` */
export function required(body: JsonObject, ...names: string[]): string {
  for (const name of names) {
    const value = body[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  const [name = ''] = names;
  throw new GatewayError('request.invalid_field', {
    field: `body.${name}`,
    message: `body.${name} must be a text: this provider needs it.`,
  });
}

/** Unix seconds of what vendors write as a date; null = they do not. */
export function secondsOf(date: JsonValue | undefined): number | null {
  if (typeof date === 'number') return Math.floor(date > 1e11 ? date / 1000 : date);
  const ms = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}

/** Without members that nothing is known of. */
export function known(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined),
  );
}

/** A page as OpenAI has it. */
export function listOf(data: JsonObject[], hasMore: boolean): { document: JsonObject } {
  return {
    document: {
      object: 'list',
      data,
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: hasMore,
    },
  };
}

/** An id of ours that says what a vendor would have to be told, or does not tell again. */
export function packedId(prefix: string, parts: readonly (string | number)[]): string {
  return `${prefix}_${Buffer.from(parts.join('\n')).toString('base64url')}`;
}

/** @throws GatewayError 404 for an id of anything else */
export function unpackedId(prefix: string, id: string, count: number): string[] {
  const packed = id.startsWith(`${prefix}_`) ? id.slice(prefix.length + 1) : '';
  const parts = Buffer.from(packed, 'base64url').toString().split('\n');
  const isOurs = /^[\w-]+$/.test(packed) && parts.length === count;
  if (!isOurs || parts.some((part) => !/^[\w.:/@~+-]*$/.test(part) || part.includes('..')))
    throw new GatewayError('object.owner_unknown', { field: 'path' });
  return parts;
}

/** What lies at an address that the vendor says. @throws GatewayError where it says none */
export function contentAt(url: string | undefined): JobAnswer {
  if (url === undefined)
    throw new GatewayError('request.invalid_field', {
      field: 'path.video_id',
      message: 'The video is not there yet, or will never be: look at its status.',
    });
  return { content: { method: 'GET', url } };
}

/** Jobs of the family in the vendor's own words; undefined = it has none of its own. */
export function vendorJobsAt(
  { jobs }: { readonly jobs?: JobsByFamily },
  family: ObjectFamily | undefined,
): VendorJobs | undefined {
  return family === 'fine-tuning jobs' || family === 'videos' ? jobs?.[family] : undefined;
}

/**
 * A place in the store of objects: of a saved credential, within the bucket that was saved with it.
 * @throws GatewayError 404 for what is no place, `request.invalid_field` for another's bucket
 */
export function placeWithin(
  scheme: 's3' | 'gs',
  bucketSetting: string,
  { setting, accountIsSettled }: CallFacts,
  file: string,
  field: string,
): string {
  const { bucket, key } = placeOf(scheme, file);
  const own = setting(bucketSetting)?.replace(/^(?:s3|gs):\/\//, '');
  if (accountIsSettled === true && own !== bucket)
    throw new GatewayError('request.invalid_field', {
      field,
      message:
        own === undefined
          ? `Files of a saved provider are in its own bucket: keep ${bucketSetting.replaceAll('-', '_')} in it.`
          : `Files of this provider are in the bucket ${own}.`,
    });
  return `${scheme}://${bucket}/${key}`;
}
