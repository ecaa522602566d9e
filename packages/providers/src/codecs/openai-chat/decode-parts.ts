import type {
  CacheControl,
  ChatPart,
  FilePart,
  ImagePart,
  JsonObject,
  JsonValue,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { sourceOfBase64, sourceOfUrl } from '../data-url.ts';
import { formatName } from './wire.ts';

/** `content` of a message: a string, a list of parts, or nothing. */
export function decodeContent(content: JsonValue | undefined, path: string): ChatPart[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const list = arrayOf(content);
  if (list === undefined)
    throw invalidField(`${path}.content`, 'must be a string or a list of parts');
  return list.map((part, index) => decodePart(part, `${path}.content[${index}]`));
}

function decodePart(value: JsonValue, path: string): ChatPart {
  if (typeof value === 'string') return { type: 'text', text: value };
  const part = objectOf(value);
  if (part === undefined) throw invalidField(path, 'must be an object');
  const cache = cacheControlOf(part);
  switch (part.type) {
    case 'text':
      return textPart(part, path, cache);
    case 'refusal':
      return { type: 'refusal', text: stringOf(part.refusal) ?? '' };
    case 'image_url':
      return imagePart(part, path, cache);
    case 'file':
      return filePart(part, path, cache);
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

function textPart(
  part: JsonObject,
  path: string,
  cache: { cacheControl?: CacheControl },
): ChatPart {
  const text = stringOf(part.text);
  if (text === undefined) throw invalidField(`${path}.text`, 'must be a string');
  return { type: 'text', text, ...cache };
}

function imagePart(
  part: JsonObject,
  path: string,
  cache: { cacheControl?: CacheControl },
): ImagePart | FilePart {
  const image = objectOf(part.image_url);
  const url = stringOf(image?.url) ?? stringOf(part.image_url);
  if (url === undefined) throw invalidField(`${path}.image_url.url`, 'must be a string');
  const source = sourceOfUrl(url, `${path}.image_url.url`, image);
  if (
    source.kind === 'text' ||
    (source.kind === 'base64' && !source.mediaType.startsWith('image/'))
  )
    return { type: 'file', source, ...cache };
  const detail = stringOf(image?.detail);
  return { type: 'image', source, ...(detail === undefined ? {} : { detail }), ...cache };
}

function filePart(
  part: JsonObject,
  path: string,
  cache: { cacheControl?: CacheControl },
): FilePart {
  const file = objectOf(part.file) ?? {};
  const filename = stringOf(file.filename);
  const rest = { ...(filename === undefined ? {} : { filename }), ...cache };
  const fileId = stringOf(file.file_id);
  if (fileId !== undefined) return { type: 'file', source: { kind: 'file-id', fileId }, ...rest };
  const url = stringOf(file.file_url);
  if (url !== undefined)
    return { type: 'file', source: sourceOfUrl(url, `${path}.file.file_url`, file), ...rest };
  const data = stringOf(file.file_data);
  if (data === undefined)
    throw invalidField(`${path}.file`, 'needs file_data, file_url or file_id');
  if (data.startsWith('data:'))
    return { type: 'file', source: sourceOfUrl(data, `${path}.file.file_data`), ...rest };
  const mediaType = stringOf(file.mime_type) ?? 'application/pdf';
  return { type: 'file', source: sourceOfBase64(mediaType, data), ...rest };
}

/** Assistant parts a caller sends back from a non-strict reply; they stand in for `content`. */
export function decodeContentBlocks(blocks: JsonValue[], path: string): ChatPart[] {
  const parts: ChatPart[] = [];
  for (const value of blocks) {
    const block = objectOf(value);
    if (block === undefined) continue;
    switch (block.type) {
      case 'text':
        parts.push({
          type: 'text',
          text: stringOf(block.text) ?? '',
          ...citationsOf(block),
          ...cacheControlOf(block),
          ...signatureOf(block),
        });
        break;
      case 'thinking':
        parts.push({
          type: 'thinking',
          text: stringOf(block.thinking) ?? '',
          ...compact({ signature: stringOf(block.signature) }),
        });
        break;
      case 'redacted_thinking':
        parts.push({ type: 'redacted-thinking', data: stringOf(block.data) ?? '' });
        break;
      case 'image_url':
        parts.push({ ...imagePart(block, path, {}), ...signatureOf(block) });
        break;
      case 'tool_use':
        // The same call stands in `tool_calls`.
        break;
      default:
        parts.push({ type: 'foreign', format: formatOfBlock(block), value: block });
    }
  }
  return parts;
}

/** Their provider checks that it wrote them itself. */
function citationsOf(block: JsonObject): { citations?: JsonObject[] } {
  const citations = (arrayOf(block.citations) ?? [])
    .map(objectOf)
    .filter((entry) => entry !== undefined);
  return citations.length === 0 ? {} : { citations };
}

/** Blocks with a type are Anthropic's; Gemini names its parts by their fields. */
function formatOfBlock(block: JsonObject): string {
  return block.type === undefined ? 'gemini' : 'anthropic-messages';
}

/** The proof of the thought behind a part, as non-strict replies show it. */
export function signatureOf(value: JsonObject): { signature?: string } {
  const signature = stringOf(value.thought_signature);
  return signature === undefined ? {} : { signature };
}

/** The same in Google's words, beside a text or a call. */
export function googleSignatureOf(value: JsonObject): { signature?: string } {
  return signatureOf(objectOf(objectOf(value.extra_content)?.google) ?? {});
}

/** In Anthropic's words or OpenAI's. */
export function cacheControlOf(value: JsonObject): { cacheControl?: CacheControl } {
  const control = objectOf(value.cache_control);
  const point = objectOf(value.prompt_cache_breakpoint);
  const type = stringOf(control?.type) ?? (point && 'ephemeral');
  if (type === undefined) return {};
  const ttl = stringOf((control?.type === undefined ? point : control)?.ttl);
  return { cacheControl: ttl === undefined ? { type } : { type, ttl } };
}
