import { randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { FormPart, JsonObject, JsonValue } from '@sluice/providers';
import { ambiguousName, invalidForm } from './multipart.ts';

/** Fields up to this size are read as text; larger ones are files in all but name. */
const fieldBytesMax = 1024 * 1024;

/**
 * The text fields as an object, so that configs and conditions can see them;
 * repeated names become lists.
 * @throws GatewayError `request.invalid_form` for text that is not UTF-8, and a model that is a file;
 *   `request.ambiguous_member` for a model in another case
 */
export function formFields(parts: readonly FormPart[]): JsonObject {
  const fields: JsonObject = {};
  for (const part of parts) {
    const { name } = part;
    if (name !== 'model' && name.trim().toLowerCase() === 'model')
      throw new GatewayError('request.ambiguous_member', {
        field: `body.${name}`,
        message: `The field model must be written in lower case; some servers read "${name}" as well.`,
      });
    if (!isField(part)) {
      // Who may use which model is decided by its name.
      if (name === 'model') throw invalidForm('The field model must be text.', 'body.model');
      continue;
    }
    const value = fieldValue(part);
    const present = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (present === undefined) setOwn(fields, name, value);
    // A list is ours: forms know only text.
    else if (Array.isArray(present)) present.push(value);
    else setOwn(fields, name, [present, value]);
  }
  return fields;
}

function isField({ filename, data }: FormPart): boolean {
  return filename === undefined && data.length <= fieldBytesMax;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Forms know only text; of `stream` alone it is certain that it means what JSON means. */
function fieldValue({ name, data }: FormPart): string | boolean {
  let text: string;
  try {
    text = utf8.decode(data);
  } catch {
    throw invalidForm(`The field ${name.slice(0, 80)} is not UTF-8.`);
  }
  if (name === 'stream' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Also of a field that is called `__proto__`. */
function setOwn(fields: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(fields, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/**
 * The form with these fields in place of its own. What did not change keeps its
 * bytes and its place; new fields come first, since some servers want to have
 * read all of them before a file.
 */
export function writeForm(
  parts: readonly FormPart[],
  fields: JsonObject,
): { data: Buffer; contentType: string } {
  const before = formFields(parts);
  const boundary = `sluice-${randomBytes(16).toString('hex')}`;
  const pieces: Buffer[] = [];
  const add = (part: FormPart) =>
    pieces.push(Buffer.from(headOf(part, boundary)), part.data, lineEnd);
  for (const [name, value] of Object.entries(fields))
    if (!Object.hasOwn(before, name)) for (const part of partsOf(name, value)) add(part);
  const replaced = new Set<string>();
  for (const part of parts) {
    const { name } = part;
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!isField(part) || isSame(before[name], value)) add(part);
    else if (!replaced.has(name)) {
      replaced.add(name);
      for (const changed of partsOf(name, value)) add(changed);
    }
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return {
    data: Buffer.concat(pieces),
    contentType: `multipart/form-data; boundary=${boundary}`,
  };
}

const lineEnd = Buffer.from('\r\n');

function isSame(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** One for each value of a list; none for what is not set. */
function partsOf(name: string, value: JsonValue | undefined): FormPart[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => ({
    name,
    filename: undefined,
    contentType: undefined,
    data: Buffer.from(typeof one === 'string' ? one : JSON.stringify(one)),
  }));
}

function headOf({ name, filename, contentType }: FormPart, boundary: string): string {
  const file = filename === undefined ? '' : `; filename="${quoted(filename)}"`;
  const type = contentType === undefined ? '' : `\r\nContent-Type: ${contentType}`;
  return `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"${file}${type}\r\n\r\n`;
}

/**
 * As browsers write it (WHATWG's multipart/form-data): a name can neither end its quotes nor its line, and a backslash stands for
 * itself. Where it would escape something to other readers, nothing that could be written means the same to all.
 * @throws GatewayError `request.invalid_form`
 */
function quoted(text: string): string {
  if (/\\(?:\\|$)/.test(text)) throw ambiguousName();
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
