import type { AudioPart, FilePart, ImagePart, JsonObject, MediaSource } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { booleanOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import type { DocumentNames } from './document-names.ts';

type Kind = 'image' | 'video' | 'document';

/** Media type → what Converse calls it. */
const formats: Record<Kind, Readonly<Record<string, string>>> = {
  image: {
    'image/png': 'png',
    'image/jpeg': 'jpeg',
    'image/jpg': 'jpeg',
    'image/gif': 'gif',
    'image/webp': 'webp',
  },
  video: {
    'video/mp4': 'mp4',
    'video/quicktime': 'mov',
    'video/x-matroska': 'mkv',
    'video/webm': 'webm',
    'video/x-flv': 'flv',
    'video/mpeg': 'mpeg',
    'video/mpg': 'mpg',
    'video/x-ms-wmv': 'wmv',
    'video/3gpp': 'three_gp',
  },
  document: {
    'application/pdf': 'pdf',
    'text/csv': 'csv',
    'application/msword': 'doc',
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
    'application/vnd.ms-excel': 'xls',
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
    'text/html': 'html',
    'text/plain': 'txt',
    'text/markdown': 'md',
  },
};

/** Ends of file names that are not the format's own name. */
const extensions: Readonly<Record<string, string>> = {
  jpg: 'jpeg',
  '3gp': 'three_gp',
  htm: 'html',
  markdown: 'md',
  text: 'txt',
};

/** @throws GatewayError `request.invalid_field` for media that Converse has no block or place for */
export function encodeMedia(
  part: ImagePart | FilePart,
  path: string,
  names: DocumentNames,
): JsonObject {
  const { source } = part;
  if (source.kind === 'file-id')
    throw invalidField(path, 'names a file by its id, which this provider does not take');
  const { kind, format } = formatOf(part, source, path);
  const block: JsonObject = { format, source: encodeSource(source, path) };
  if (kind !== 'document' || part.type === 'image') return { [kind]: block };
  block.name = names.take(part.filename, format);
  if (part.context !== undefined) block.context = part.context;
  if (part.citable !== undefined) block.citations = { enabled: part.citable };
  return { document: block };
}

export function encodeAudio(part: AudioPart): JsonObject {
  return { audio: { format: part.format, source: { bytes: part.data } } };
}

function encodeSource(source: Exclude<MediaSource, { kind: 'file-id' }>, path: string): JsonObject {
  switch (source.kind) {
    case 'base64':
      return { bytes: source.data };
    case 'text':
      return { bytes: Buffer.from(source.text).toString('base64') };
    case 'url':
      if (!source.url.startsWith('s3://'))
        throw invalidField(
          path,
          'has an address that this provider cannot read: send the data itself, or an s3:// address',
        );
      return {
        s3Location: compact({ uri: source.url, bucketOwner: source.owner }) as JsonObject,
      };
  }
}

function formatOf(
  part: ImagePart | FilePart,
  source: Exclude<MediaSource, { kind: 'file-id' }>,
  path: string,
): { kind: Kind; format: string } {
  const { mediaType } = source;
  if (mediaType !== undefined) {
    const type = mediaType.toLowerCase();
    for (const kind of ['image', 'video', 'document'] as const) {
      const format = Object.hasOwn(formats[kind], type) ? formats[kind][type] : undefined;
      if (format !== undefined) return { kind, format };
    }
    throw invalidField(path, `is of the type ${mediaType}, which this provider does not take`);
  }
  const ending = /\.([a-z0-9]+)$/i.exec(source.kind === 'url' ? source.url : '')?.[1] ?? '';
  const named = ending.toLowerCase();
  const format = Object.hasOwn(extensions, named) ? (extensions[named] as string) : named;
  for (const kind of ['image', 'video', 'document'] as const)
    if (Object.values(formats[kind]).includes(format)) return { kind, format };
  return part.type === 'image'
    ? { kind: 'image', format: 'png' }
    : { kind: 'document', format: 'pdf' };
}

/** Undefined when the block is no medium, or has no source we know. */
export function decodeMedia(block: JsonObject): ImagePart | FilePart | AudioPart | undefined {
  const audio = objectOf(block.audio);
  if (audio !== undefined) {
    const data = stringOf(objectOf(audio.source)?.bytes);
    const format = stringOf(audio.format);
    return data === undefined || format === undefined ? undefined : { type: 'audio', format, data };
  }
  for (const kind of ['image', 'video', 'document'] as const) {
    const medium = objectOf(block[kind]);
    if (medium === undefined) continue;
    const source = decodeSource(kind, medium);
    if (source === undefined) return undefined;
    if (kind === 'image') return { type: 'image', source };
    return compact<FilePart>({
      type: 'file',
      source,
      filename: stringOf(medium.name),
      context: stringOf(medium.context),
      citable: booleanOf(objectOf(medium.citations)?.enabled),
    } as FilePart);
  }
  return undefined;
}

function decodeSource(kind: Kind, medium: JsonObject): MediaSource | undefined {
  const source = objectOf(medium.source);
  const mediaType = mediaTypeOf(kind, stringOf(medium.format));
  const url = stringOf(objectOf(source?.s3Location)?.uri);
  if (url !== undefined) {
    const owner = stringOf(objectOf(source?.s3Location)?.bucketOwner);
    return { kind: 'url', url, ...compact({ mediaType, owner }) };
  }
  const text = stringOf(source?.text);
  if (text !== undefined) return { kind: 'text', mediaType: mediaType ?? 'text/plain', text };
  const data = stringOf(source?.bytes);
  if (data === undefined || mediaType === undefined) return undefined;
  return mediaType === 'text/plain'
    ? { kind: 'text', mediaType, text: Buffer.from(data, 'base64').toString('utf8') }
    : { kind: 'base64', mediaType, data };
}

function mediaTypeOf(kind: Kind, format: string | undefined): string | undefined {
  for (const [type, name] of Object.entries(formats[kind])) if (name === format) return type;
  return undefined;
}
