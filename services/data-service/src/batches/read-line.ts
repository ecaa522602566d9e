import { JsonError, jsonBounds, memberSpans, readJson } from '@sluice/json';
import type { Line } from './lines.ts';

/** A line that can be run. */
export interface ReadLine {
  readonly number: number;
  readonly customId: string;
  /** As its body names it; undefined = it names none. */
  readonly model: unknown;
  /** It is to be answered before it is made. */
  readonly isBackground: boolean;
  /** As it stands in the file. */
  readonly body: Buffer;
}

/** What is wrong with a line. Codes are stable. */
export interface LineFault {
  readonly code: string;
  readonly message: string;
  /** Which member of the line. */
  readonly param: string | null;
  readonly line: number | null;
}

export const customIdLengthMax = 256;
const byteOrderMark = 0xef;

/** The line as a request, or what is wrong with it. */
export function readLine({ number, bytes }: Line, endpoint: string): ReadLine | LineFault {
  const fault = (code: string, param: string | null, message: string): LineFault => ({
    code,
    message,
    param,
    line: number,
  });
  if (bytes === undefined) return fault('line_too_large', null, 'The line is too long.');
  let value: unknown;
  try {
    value = readJson(bytes, jsonBounds.request);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return fault('invalid_json_line', null, `The line is ${error.message}.`);
  }
  if (!isObject(value)) return fault('invalid_json_line', null, 'The line is no JSON object.');
  // Decoding drops it: the file was put behind another one.
  if (bytes[0] === byteOrderMark)
    return fault('invalid_json_line', null, 'The line begins with a byte order mark.');
  const spans = memberSpans(bytes);
  // A provider that is sent the line may go by another one than we do.
  if (spans.length > Object.keys(value).length)
    return fault('invalid_json_line', null, 'The line has two members of one name.');
  const { custom_id: customId, method = 'POST', url, body } = value;
  if (customId === undefined)
    return fault('missing_custom_id', 'custom_id', 'The line has no custom_id.');
  if (typeof customId !== 'string' || !isCustomId(customId))
    return fault(
      'invalid_custom_id',
      'custom_id',
      `custom_id must be a text of 1 to ${customIdLengthMax} characters.`,
    );
  if (method !== 'POST') return fault('invalid_method', 'method', 'method must be POST.');
  if (url !== endpoint)
    return fault('mismatched_url', 'url', `url must be that of the batch, ${endpoint}.`);
  if (!isObject(body)) return fault('invalid_body', 'body', 'body must be a JSON object.');
  if (body.stream !== undefined && body.stream !== null && body.stream !== false)
    return fault('stream_not_supported', 'body.stream', 'A line of a batch is not streamed.');
  const span = spans.find(({ key }) => key === 'body');
  if (span === undefined) return fault('invalid_body', 'body', 'body must be a JSON object.');
  return {
    number,
    customId,
    model: body.model,
    isBackground: body.background === true,
    body: bytes.subarray(span.start, span.end),
  };
}

/** Halves of characters are the same in no two encodings: two ids would be one. */
function isCustomId(id: string): boolean {
  return id !== '' && id.length <= customIdLengthMax && id.isWellFormed();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
