import { jsonBounds, readJsonText } from '@sluice/json';
import { CheckError } from './check.ts';

/**
 * Headers as a check's parameters have them: an object, or the JSON text of one.
 * @throws CheckError when it is no such text
 */
export function toldHeaders(
  written: Readonly<Record<string, string>> | string | undefined,
): Readonly<Record<string, string>> {
  if (typeof written === 'object') return written;
  if (written === undefined || written.trim() === '') return {};
  const headers = parsed(written);
  if (headers !== undefined) return headers;
  const fault = 'must be a JSON object of names and texts of headers';
  throw new CheckError('InvalidParameters', `parameters.headers: ${fault}.`, 'headers');
}

function parsed(written: string): Record<string, string> | undefined {
  try {
    const value = readJsonText(written, jsonBounds.small);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value).filter(isHeader);
    return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined;
  } catch {
    // Not JSON.
    return undefined;
  }
}

function isHeader(entry: [string, unknown]): entry is [string, string] {
  const [name, value] = entry;
  return (
    /^[!#$%&'*+.^_`|~\w-]{1,256}$/.test(name) &&
    typeof value === 'string' &&
    /^[^\p{Cc}]{0,8192}$/u.test(value)
  );
}
