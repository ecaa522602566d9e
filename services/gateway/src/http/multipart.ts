import { randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { FormPart, JsonObject } from '@sluice/providers';

/** More parts than any form of these endpoints has. */
const partsMax = 1_000;
/** Fields up to this size are read as text; larger ones are files in all but name. */
const fieldBytesMax = 1024 * 1024;

/**
 * The parts of a multipart/form-data body, without copying their bytes.
 * @throws GatewayError `request.invalid_form` when it is not one
 */
export function parseForm(body: Buffer, contentType: string): FormPart[] {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined)
    throw invalid('The content type multipart/form-data must name its boundary.');
  const mark = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  let at = body.indexOf(mark);
  // Only a line of its own is a boundary; what comes before the first one is nothing.
  while (at > 0 && !(body[at - 1] === newline)) at = body.indexOf(mark, at + 1);
  if (at < 0) throw invalid('The body has no part that its boundary begins.');
  at += mark.length;
  while (!isClosing(body, at)) {
    const start = endOfLine(body, at);
    const end = nextMark(body, mark, start);
    if (end < 0) throw invalid('The body ends within a part.');
    parts.push(readPart(body.subarray(start, end)));
    if (parts.length > partsMax) throw invalid(`The form has more than ${partsMax} parts.`);
    at = end + 2 + mark.length;
  }
  return parts;
}

const newline = 0x0a;
const hyphen = 0x2d;

function boundaryOf(contentType: string): string | undefined {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType);
  return match?.[1] ?? match?.[2];
}

function isClosing(body: Buffer, at: number): boolean {
  return body[at] === hyphen && body[at + 1] === hyphen;
}

function endOfLine(body: Buffer, at: number): number {
  const end = body.indexOf('\r\n', at);
  if (end < 0) throw invalid('The body ends within a boundary.');
  return end + 2;
}

/** Where the line end before the next boundary is. */
function nextMark(body: Buffer, mark: Buffer, from: number): number {
  // An empty part's boundary follows its headers at once.
  let at = body.indexOf(mark, from);
  while (at >= 0 && !(body[at - 2] === 0x0d && body[at - 1] === newline))
    at = body.indexOf(mark, at + 1);
  return at < 0 ? -1 : at - 2;
}

function readPart(bytes: Buffer): FormPart {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) throw invalid('A part of the form has no headers.');
  const headers = new Map(
    bytes
      .toString('utf8', 0, end)
      .split('\r\n')
      .map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
      }),
  );
  const disposition = headers.get('content-disposition') ?? '';
  const name = parameter(disposition, 'name');
  if (name === undefined) throw invalid('A part of the form has no name.');
  return {
    name,
    filename: parameter(disposition, 'filename'),
    contentType: headers.get('content-type'),
    data: bytes.subarray(end + 4),
  };
}

function parameter(disposition: string, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;]+))`, 'i').exec(
    disposition,
  );
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2];
}

/** The text fields as an object, so that configs and conditions can see them; repeated names become lists. */
export function formFields(parts: readonly FormPart[]): JsonObject {
  const fields: JsonObject = {};
  for (const { name, filename, data } of parts) {
    if (filename !== undefined || data.length > fieldBytesMax || name === '__proto__') continue;
    const value = fieldValue(data.toString('utf8'));
    const present = fields[name];
    if (present === undefined) fields[name] = value;
    else fields[name] = Array.isArray(present) ? [...present, value] : [present, value];
  }
  return fields;
}

/** Forms know only text; these two words mean what JSON means by them. */
function fieldValue(text: string): string | boolean {
  return text === 'true' ? true : text === 'false' ? false : text;
}

/** The form with these fields in place of its own, and its files as they were. */
export function writeForm(
  parts: readonly FormPart[],
  fields: JsonObject,
): { data: Buffer; contentType: string } {
  const boundary = `sluice-${randomBytes(16).toString('hex')}`;
  const pieces: Buffer[] = [];
  for (const [name, value] of Object.entries(fields))
    for (const one of Array.isArray(value) ? value : [value]) {
      const text = typeof one === 'string' ? one : JSON.stringify(one);
      pieces.push(head(boundary, name, undefined, undefined), Buffer.from(`${text}\r\n`));
    }
  for (const { name, filename, contentType, data } of parts)
    if (filename !== undefined || data.length > fieldBytesMax)
      pieces.push(head(boundary, name, filename, contentType), data, Buffer.from('\r\n'));
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    data: Buffer.concat(pieces),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

function head(
  boundary: string,
  name: string,
  filename: string | undefined,
  contentType: string | undefined,
): Buffer {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
  const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType}`;
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${type}\r\n\r\n`,
  );
}

/** As browsers write it: a name can neither end its quotes nor its line. */
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function invalid(message: string): GatewayError {
  return new GatewayError('request.invalid_form', { field: 'body', message });
}
