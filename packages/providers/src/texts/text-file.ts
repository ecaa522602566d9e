import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '@sluice/contracts';

/** What a file within a document says. */
export interface TextFile {
  /** Stands before its bytes in base64. */
  readonly before: string;
  readonly text: string;
}

/**
 * A file of text, as a model reads it, in a member of a document: a data URL, or
 * base64 where files are. Read as loosely as the loosest who decodes it, since
 * what is not read here may be read there; undefined = it is none of text.
 * @param isSaidToBeText by what it stands in (`saysText`)
 */
export function textFile(
  name: string,
  value: string,
  isSaidToBeText: boolean,
): TextFile | undefined {
  const url = dataUrl(value);
  if (url !== undefined) return said(url.data, url.before, isSaidToBeText || isText(url.type));
  if (!fileNames.has(name) || value.length < 4 || !isBase64.test(value)) return undefined;
  return said(value, '', isSaidToBeText);
}

/** OpenAI, Anthropic and Gemini, Bedrock and A2A, Vertex AI, A2A 1.0. */
const fileNames: ReadonlySet<string> = new Set([
  'file_data',
  'data',
  'bytes',
  'bytesBase64Encoded',
  'raw',
]);
/** Many wrap its lines, and Google's decoder passes over any space. */
const isBase64 = /^[A-Za-z0-9+/_=\s-]*$/;

const isPlainHead = /^data:[\w.+/-]+(?:;charset=utf-?8)?;base64,$/i;

/** Looked at a letter first: it is asked of every text. */
export function isDataUrl(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first === 0x64 || first === 0x44) && /^data:/i.test(text);
}

/** Any parameters, base64 or percent-encoded. */
function dataUrl(value: string): { type: string; before: string; data: string } | undefined {
  const comma = isDataUrl(value) ? value.indexOf(',') : -1;
  if (comma === -1) return undefined;
  const [type = '', ...parameters] = value.slice('data:'.length, comma).split(';');
  const isEncoded = parameters.some((parameter) => parameter.trim().toLowerCase() === 'base64');
  const payload = unescaped(value.slice(comma + 1));
  const mediaType = /^[\w.+/-]+$/.test(type.trim()) ? type.trim() : 'text/plain';
  const head = value.slice(0, comma + 1);
  return {
    type: mediaType,
    // What else is said of it, its charset or its name, may not hold for other words.
    before: isPlainHead.test(head) ? head : `data:${mediaType};base64,`,
    data: isEncoded ? payload : Buffer.from(payload).toString('base64'),
  };
}

function unescaped(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function said(data: string, before: string, isSaidToBeText: boolean): TextFile | undefined {
  // Most files show at once that they are none of text.
  const start = Buffer.from(data.slice(0, 1024), 'base64');
  const order = byteOrderOf(start);
  if (order === undefined && !isSaidToBeText && start.includes(0)) return undefined;
  const bytes = Buffer.from(data, 'base64');
  if (order !== undefined) return { before, text: new TextDecoder(order).decode(bytes) };
  if (!isSaidToBeText && !isUtf8(bytes)) return undefined;
  // A byte that is no character keeps nobody from reading the rest.
  const text = bytes.toString('utf8').replaceAll('\0', '');
  return text === '' ? undefined : { before, text };
}

function byteOrderOf(start: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (start[0] === 0xff && start[1] === 0xfe) return 'utf-16le';
  return start[0] === 0xfe && start[1] === 0xff ? 'utf-16be' : undefined;
}

/** Whether a part says that the file in it is one of text, by the words of any vendor. */
export function saysText(holder: JsonObject): boolean {
  const type =
    holder.media_type ?? holder.mediaType ?? holder.mimeType ?? holder.mime_type ?? holder.format;
  if (isText(type)) return true;
  const name = holder.filename ?? holder.file_name ?? holder.name;
  return typeof name === 'string' && isNamedAsText(name);
}

/** By its ending. */
export function isNamedAsText(filename: string): boolean {
  return textName.test(filename);
}

function isText(type: unknown): boolean {
  return typeof type === 'string' && textType.test(type.trim());
}

const words = 'txt|md|markdown|csv|tsv|html?|xml|jsonl?|ya?ml';
const textType = new RegExp(
  `^(?:text/|image/svg\\b|application/(?:[\\w.+-]*[.+-])?(?:json|xml|yaml|javascript|sql)\\b|(?:${words})$)`,
  'i',
);
const textName = new RegExp(`\\.(?:${words}|log|py|[jt]sx?|sql|sh|tex)$`, 'i');
