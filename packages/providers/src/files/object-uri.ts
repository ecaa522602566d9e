import { GatewayError } from '@sluice/errors';

/** A place in an object store that a file's id is made of. */
export interface ObjectPlace {
  readonly bucket: string;
  readonly key: string;
}

type Scheme = 's3' | 'gs';

/** The id of what lies there: its URI, escaped, so that it is one segment of a path. */
export function objectId(scheme: Scheme, { bucket, key }: ObjectPlace): string {
  return encodeURIComponent(`${scheme}://${bucket}/${key}`);
}

/**
 * Where an id says that its file lies. Callers' clients may have escaped it once more, or once less.
 * @throws GatewayError 404 for an id of anything else
 */
export function placeOf(scheme: Scheme, id: string): ObjectPlace {
  let uri = id;
  for (let times = 0; times < 2 && !uri.startsWith(`${scheme}://`); times++) uri = decoded(uri);
  const [, bucket = '', key = ''] = new RegExp(`^${scheme}://([^/]+)/(.+)$`, 's').exec(uri) ?? [];
  if (!isBucket(bucket) || !isKey(key))
    throw new GatewayError('file.not_found', {
      field: 'path.file_id',
      message: `The id of a file here is its address, ${scheme}://bucket/name, escaped as one segment.`,
    });
  return { bucket, key };
}

/** An id as `objectId` writes it, however often a client has escaped it; any other as it is. */
export function canonicalFileId(id: string): string {
  const [, scheme] = /^(s3|gs)(?::|%(?:25)?3A)/i.exec(id) ?? [];
  if (scheme === undefined) return id;
  try {
    return objectId(scheme.toLowerCase() as Scheme, placeOf(scheme.toLowerCase() as Scheme, id));
  } catch {
    return id;
  }
}

/** Letters, digits, hyphens and dots alone: a bucket's name may become a part of a host. */
export function isBucket(name: string): boolean {
  return (
    /^[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]$/.test(name) &&
    !name.includes('..') &&
    !/^\d+(?:\.\d+){3}$/.test(name)
  );
}

/** @throws GatewayError `provider.setting_missing`, `provider.setting_invalid` */
export function checkedBucket(setting: string, value: string | undefined): string {
  if (value === undefined)
    throw new GatewayError('provider.setting_missing', {
      field: `x-service-${setting}`,
      message: `Files are kept in a bucket at this provider: send x-service-${setting}, or keep ${setting.replaceAll('-', '_')} in the provider.`,
    });
  const name = value.replace(/^(?:s3|gs):\/\//, '').replace(/\/+$/, '');
  if (!isBucket(name))
    throw new GatewayError('provider.setting_invalid', {
      field: `x-service-${setting}`,
      message: `The setting ${setting} must be the name of a bucket: lower-case letters, digits, dots, hyphens and underscores.`,
    });
  return name;
}

/** @throws GatewayError `provider.setting_invalid` */
export function checkedKey(setting: string, value: string): string {
  const key = value.replace(/^\/+/, '');
  if (!isKey(key))
    throw new GatewayError('provider.setting_invalid', {
      field: `x-service-${setting}`,
      message: `The setting ${setting} must be the name of an object: at most 900 bytes, without control characters and segments of dots.`,
    });
  return key;
}

function isKey(key: string): boolean {
  return (
    key !== '' &&
    Buffer.byteLength(key) <= 900 &&
    key.isWellFormed() &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what no name may have
    !/[\x00-\x1f\x7f]/.test(key) &&
    !key.split('/').some((segment) => segment === '.' || segment === '..')
  );
}

/** A key as a path: each segment escaped, as signatures want it. */
export function keyPath(key: string): string {
  return key.split('/').map(escaped).join('/');
}

/** Whatever is not unreserved: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html */
export function escaped(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
