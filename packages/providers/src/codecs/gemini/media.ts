import type { AudioPart, ChatPart, JsonObject, MediaSource } from '@sluice/contracts';
import { stringOf } from '../../json/json-access.ts';

/** Media types by the ending of an address; the provider asks for one with every file. */
const typesByEnding = new Map<string, string>(
  Object.entries({
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    webp: 'image/webp',
    gif: 'image/gif',
    heic: 'image/heic',
    heif: 'image/heif',
    pdf: 'application/pdf',
    txt: 'text/plain',
    md: 'text/markdown',
    html: 'text/html',
    csv: 'text/csv',
    json: 'application/json',
    mp3: 'audio/mp3',
    wav: 'audio/wav',
    ogg: 'audio/ogg',
    flac: 'audio/flac',
    m4a: 'audio/m4a',
    aac: 'audio/aac',
    mp4: 'video/mp4',
    mov: 'video/quicktime',
    webm: 'video/webm',
    mpeg: 'video/mpeg',
    mpg: 'video/mpeg',
  }),
);

const audioTypes = new Map<string, string>(
  Object.entries({
    opus: 'audio/ogg',
    pcm16: 'audio/pcm',
    'x-aac': 'audio/aac',
    'x-m4a': 'audio/m4a',
  }),
);

export function audioType(format: string): string {
  return audioTypes.get(format) ?? `audio/${format}`;
}

function audioFormat(mediaType: string): string {
  if (mediaType === 'audio/pcm') return 'pcm16';
  return mediaType === 'audio/mpeg' ? 'mp3' : mediaType.slice('audio/'.length);
}

/** `fallback` is the media type of an address that does not tell its own. */
export function encodeSource(source: MediaSource, fallback: string): JsonObject {
  switch (source.kind) {
    case 'base64':
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case 'text': {
      const data = Buffer.from(source.text).toString('base64');
      return { inlineData: { mimeType: source.mediaType, data } };
    }
    case 'url': {
      const mimeType = source.mediaType ?? typeOfUrl(source.url) ?? fallback;
      return { fileData: { mimeType, fileUri: source.url } };
    }
    case 'file-id':
      return { fileData: { fileUri: uriOfFile(source.fileId) } };
  }
}

/** Files of the Gemini API are named `files/x`; elsewhere an id is an address already. */
function uriOfFile(id: string): string {
  return id.startsWith('files/') ? filesUrl + id : id;
}

const filesUrl = 'https://generativelanguage.googleapis.com/v1beta/';

function typeOfUrl(url: string): string | undefined {
  if (/^https?:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\//i.test(url)) return 'video/mp4';
  const path = url.split(/[?#]/, 1)[0] as string;
  return typesByEnding.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase());
}

/** `inlineData` of a request or reply. */
export function decodeInline(data: JsonObject): ChatPart {
  const mediaType = stringOf(data.mimeType) ?? 'application/octet-stream';
  const bytes = stringOf(data.data) ?? '';
  if (mediaType.startsWith('image/'))
    return { type: 'image', source: { kind: 'base64', mediaType, data: bytes } };
  if (mediaType.startsWith('audio/'))
    return { type: 'audio', format: audioFormat(mediaType), data: bytes } satisfies AudioPart;
  if (mediaType === 'text/plain') {
    const text = Buffer.from(bytes, 'base64').toString('utf8');
    return { type: 'file', source: { kind: 'text', mediaType, text } };
  }
  return { type: 'file', source: { kind: 'base64', mediaType, data: bytes } };
}

/** `fileData` of a request. */
export function decodeFileData(data: JsonObject): ChatPart {
  const uri = stringOf(data.fileUri) ?? '';
  const mediaType = stringOf(data.mimeType);
  if (uri.startsWith(`${filesUrl}files/`))
    return {
      type: 'file',
      source: { kind: 'file-id', fileId: uri.slice(filesUrl.length) },
    };
  const known = mediaType === undefined || typeOfUrl(uri) === mediaType;
  const source: MediaSource = { kind: 'url', url: uri, ...(known ? {} : { mediaType }) };
  const isImage = (mediaType ?? typeOfUrl(uri))?.startsWith('image/') === true;
  return { type: isImage ? 'image' : 'file', source };
}
