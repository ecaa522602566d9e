/** Headers as node:http gives them: names in lower case, of those sent twice the values joined. */
export type HeaderMap = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header's value without the spaces around it; of one that came as a list all of it. */
export function headerValue(headers: HeaderMap, name: string): string | undefined {
  if (!Object.hasOwn(headers, name)) return undefined;
  const value = headers[name];
  if (value === undefined) return undefined;
  return trimmed(typeof value === 'string' ? value : value.join(', '));
}

const prefix = '=?base64?';
const suffix = '?=';

/**
 * A value of `Mcp-Name` and `Mcp-Param-*`: what is not plain ASCII, has spaces at its ends or looks like the encoded
 * form is sent in base64 of its UTF-8.
 */
export function encodeHeaderValue(text: string): string {
  const isPlain = /^[\x20-\x7e]*$/.test(text) && trimmed(text) === text && !isEncoded(text);
  if (isPlain && text !== '') return text;
  return `${prefix}${Buffer.from(text, 'utf8').toString('base64')}${suffix}`;
}

/** What a header says; undefined where its base64 is none, or not of UTF-8. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!isEncoded(value)) return value;
  const base64 = value.slice(prefix.length, value.length - suffix.length);
  const bytes = Buffer.from(base64, 'base64');
  // The decoder steps over what is no base64: only what it would write itself is taken.
  if (bytes.toString('base64') !== base64) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function isEncoded(value: string): boolean {
  return (
    value.length >= prefix.length + suffix.length &&
    value.startsWith(prefix) &&
    value.endsWith(suffix)
  );
}

/** Without spaces and tabs at both ends. */
function trimmed(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value.charCodeAt(start))) start++;
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--;
  return value.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
