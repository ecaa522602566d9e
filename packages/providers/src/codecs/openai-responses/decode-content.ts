import type { ChatPart, FilePart, ImagePart, JsonObject, JsonValue } from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { sourceOfBase64, sourceOfUrl } from '../data-url.ts';
import { cacheControlOf } from '../openai-chat/decode-parts.ts';
import { formatName } from './wire.ts';

/** A string, or a list of parts. `path` is that of the list itself. */
export function decodeContent(
  content: JsonValue | undefined,
  path: string,
  dropped: string[],
): ChatPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const list = arrayOf(content);
  if (list === undefined) throw invalidField(path, 'must be a string or a list of parts');
  return list.map((value, index) => {
    const part = objectOf(value);
    if (part === undefined) throw invalidField(`${path}[${index}]`, 'must be an object');
    return decodePart(part, `${path}[${index}]`, dropped);
  });
}

function decodePart(part: JsonObject, path: string, dropped: string[]): ChatPart {
  const cache = cacheControlOf(part);
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
    case 'summary_text': {
      const text = stringOf(part.text);
      if (text === undefined) throw invalidField(`${path}.text`, 'must be a string');
      // Sources of an earlier answer have other shapes elsewhere, and nothing depends on them.
      if (arrayOf(part.annotations)?.length) dropped.push(`${path}.annotations`);
      return { type: 'text', text, ...cache };
    }
    case 'refusal':
      return { type: 'refusal', text: stringOf(part.refusal) ?? '' };
    case 'input_image':
      return { ...imagePart(part, path), ...cache };
    case 'input_file':
      return { ...filePart(part, path), ...cache };
    case 'input_audio': {
      const audio = objectOf(part.input_audio);
      return {
        type: 'audio',
        format: stringOf(audio?.format) ?? 'wav',
        data: stringOf(audio?.data) ?? '',
      };
    }
    default:
      return { type: 'foreign', format: formatName, value: part };
  }
}

function imagePart(part: JsonObject, path: string): ImagePart | FilePart {
  const detail = stringOf(part.detail);
  // The format wants it said that nothing is asked for.
  const detailed = detail === undefined || detail === 'auto' ? {} : { detail };
  const url = stringOf(part.image_url);
  if (url === undefined) {
    const fileId = stringOf(part.file_id);
    if (fileId === undefined) throw invalidField(path, 'needs image_url or file_id');
    return { type: 'image', source: { kind: 'file-id', fileId }, ...detailed };
  }
  const source = sourceOfUrl(url, `${path}.image_url`);
  const isImage = source.kind !== 'base64' || source.mediaType.startsWith('image/');
  if (source.kind === 'text' || !isImage) return { type: 'file', source };
  return { type: 'image', source, ...detailed };
}

function filePart(part: JsonObject, path: string): FilePart {
  const named = compact({ filename: stringOf(part.filename) });
  const fileId = stringOf(part.file_id);
  if (fileId !== undefined) return { type: 'file', source: { kind: 'file-id', fileId }, ...named };
  const url = stringOf(part.file_url);
  if (url !== undefined)
    return { type: 'file', source: sourceOfUrl(url, `${path}.file_url`, part), ...named };
  const data = stringOf(part.file_data);
  if (data === undefined) throw invalidField(path, 'needs file_data, file_url or file_id');
  const source = data.startsWith('data:')
    ? sourceOfUrl(data, `${path}.file_data`)
    : sourceOfBase64('application/pdf', data);
  return { type: 'file', source, ...named };
}
