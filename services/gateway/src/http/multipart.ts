import { GatewayError } from '@sluice/errors';
import type { FormPart } from '@sluice/providers';
import { headerParameters } from './header-parameters.ts';

/** More parts than any form of these endpoints has. */
const partsMax = 1_000;
/** Boundaries are chosen so that no file has them; a few nested forms may begin alike. */
const falseMarksMax = 1_000;
/** Far more than the three headers that a part has. */
const headBytesMax = 16 * 1024;

/**
 * The parts of a multipart/form-data body, without copying their bytes. What two
 * readers could understand differently is refused: the bytes are passed on, and
 * the upstream must not see another model in them than we do.
 * @throws GatewayError `request.invalid_form` when it is not one
 */
export function parseForm(body: Buffer, contentType: string): FormPart[] {
  const boundary = headerParameters(contentType)?.get('boundary') ?? '';
  if (boundary === '' || boundary.length > 70)
    throw invalidForm('The content type multipart/form-data must name its boundary.');
  const marks = new Marks(body, boundary);
  let next = marks.first();
  if (next === undefined) throw invalidForm('The body has no part that its boundary begins.');
  const parts: FormPart[] = [];
  while (!next.closes) {
    const start = next.end;
    next = marks.after(start);
    if (next === undefined) throw invalidForm('The body ends within a part.');
    parts.push(readPart(body.subarray(start, Math.max(start, next.start))));
    if (parts.length > partsMax) throw invalidForm(`The form has more than ${partsMax} parts.`);
  }
  return parts;
}

/** A boundary in the body: where the part before it ends, and the next one begins. */
interface Mark {
  start: number;
  end: number;
  /** No part follows. */
  closes: boolean;
}

const carriageReturn = 0x0d;
const newline = 0x0a;
const hyphen = 0x2d;
const space = 0x20;
const tab = 0x09;

/** Finds the boundaries of a body. Only a line that holds nothing else is one: the same bytes may stand within a file. */
class Marks {
  readonly #body: Buffer;
  /** As it begins every line but the first. */
  readonly #line: Buffer;
  #falseMarks = 0;

  constructor(body: Buffer, boundary: string) {
    this.#body = body;
    this.#line = Buffer.from(`\r\n--${boundary}`);
  }

  first(): Mark | undefined {
    const line = this.#line;
    const isAtOnce = this.#body.subarray(0, line.length - 2).equals(line.subarray(2));
    return (isAtOnce ? this.#markAt(-2) : undefined) ?? this.after(0);
  }

  /** The line end of the boundary before it may be that of this one. */
  after(from: number): Mark | undefined {
    let at = this.#body.indexOf(this.#line, Math.max(0, from - 2));
    while (at >= 0) {
      const mark = this.#markAt(at);
      if (mark !== undefined) return mark;
      at = this.#body.indexOf(this.#line, at + this.#line.length);
    }
    return undefined;
  }

  /** The boundary whose line end is here; undefined when more follows on the line. */
  #markAt(at: number): Mark | undefined {
    const body = this.#body;
    const after = at + this.#line.length;
    const start = Math.max(0, at);
    if (body[after] === hyphen && body[after + 1] === hyphen)
      return { start, end: after + 2, closes: true };
    let end = after;
    while (body[end] === space || body[end] === tab) end++;
    if (body[end] === carriageReturn && body[end + 1] === newline)
      return { start, end: end + 2, closes: false };
    this.#falseMarks++;
    if (this.#falseMarks > falseMarksMax)
      throw invalidForm('The boundary of the form stands too often within its parts.');
    return undefined;
  }
}

function readPart(bytes: Buffer): FormPart {
  const end = bytes.subarray(0, headBytesMax).indexOf('\r\n\r\n');
  if (end < 0) throw invalidForm('A part of the form has no headers.');
  const headers = partHeaders(bytes.toString('utf8', 0, end));
  let hasEscapedName = false;
  const disposition = headerParameters(headers.get('content-disposition') ?? '', (parameter) => {
    hasEscapedName ||= parameter === 'name';
  });
  const name = disposition?.get('name');
  if (disposition === undefined || name === undefined)
    throw invalidForm('A part of the form has no name.');
  if (hasEscapedName) throw ambiguousName();
  const encoding = headers.get('content-transfer-encoding')?.toLowerCase() ?? 'binary';
  if (!['binary', '8bit', '7bit'].includes(encoding))
    throw invalidForm('The parts of a form must not be encoded for the transfer.');
  return {
    name,
    filename: extended(disposition.get('filename*')) ?? disposition.get('filename'),
    contentType: headers.get('content-type'),
    data: bytes.subarray(end + 4),
  };
}

/** Of a backslash before a quote or another one servers read different names. */
export function ambiguousName(): GatewayError {
  return invalidForm(
    'A name in the form has a backslash before a quote, before another backslash or at its end, which servers read differently.',
  );
}

function partHeaders(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (name === '' || headers.has(name) || /[\r\n\0]/.test(line))
      throw invalidForm('A part of the form has headers that cannot be read.');
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}

/** `UTF-8''na%C3%AFve.mp3` */
function extended(value: string | undefined): string | undefined {
  const encoded = /^utf-8'[^']*'(.*)$/i.exec(value ?? '')?.[1];
  if (encoded === undefined) return value;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // Not what it says: a file all the same, under the name as it stands.
    return value;
  }
}

export function invalidForm(message: string, field = 'body'): GatewayError {
  return new GatewayError('request.invalid_form', { field, message });
}
