import type { JsonObject, MediaSource } from '@sluice/contracts';
import { invalidField } from '../json/invalid-field.ts';
import { compact, stringOf } from '../json/json-access.ts';

/**
 * A data URL (any parameters, base64 or percent-encoded) or an http(s) address;
 * a cloud's own address may come with its media type and the bucket's owner.
 */
export function sourceOfUrl(url: string, path: string, beside?: JsonObject): MediaSource {
  if (/^(?:https?|gs|s3):\/\//i.test(url)) {
    const mediaType = stringOf(beside?.mime_type);
    const owner = stringOf(beside?.bucketOwner) ?? stringOf(beside?.bucket_owner);
    return { kind: 'url', url, ...compact({ mediaType, owner }) };
  }
  const comma = url.indexOf(',');
  if (!/^data:/i.test(url) || comma === -1)
    throw invalidField(path, 'must be an http(s), gs, s3 or data URL');
  const [type = '', ...parameters] = url.slice(5, comma).split(';');
  const told = type.trim().toLowerCase() || 'text/plain';
  // Browsers and scripts write it, and OpenAI takes it; nobody else does.
  const mediaType = told === 'image/jpg' ? 'image/jpeg' : told;
  const payload = url.slice(comma + 1);
  if (parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64'))
    return sourceOfBase64(mediaType, payload);
  try {
    return sourceOfBase64(mediaType, Buffer.from(decodeURIComponent(payload)).toString('base64'));
  } catch {
    throw invalidField(path, 'is not a valid data URL');
  }
}

export function sourceOfBase64(mediaType: string, data: string): MediaSource {
  if (mediaType === 'text/plain')
    return { kind: 'text', mediaType, text: Buffer.from(data, 'base64').toString('utf8') };
  return { kind: 'base64', mediaType, data };
}

/** Undefined for what no URL can hold: an id of the provider's, or text. */
export function urlOfSource(source: MediaSource): string | undefined {
  if (source.kind === 'url') return source.url;
  return source.kind === 'base64' ? dataUrl(source.mediaType, source.data) : undefined;
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`;
}
