import type { MemberEdits } from '@sluice/providers';
import { quote, skipSpace, stringEnd } from './edit-json.ts';

/**
 * Changes members at the top of JSON text, and leaves every other byte alone:
 * order, spacing, number forms and doubled keys survive. All members of a name
 * are changed; one that is not there is added behind the last. `bytes` must be a
 * valid JSON object.
 */
export function editMembers(bytes: Buffer, edits: MemberEdits): Buffer {
  const members = membersOf(bytes);
  const parts: (Buffer | string)[] = [];
  const seen = new Set<string>();
  let end = bytes.indexOf('{') + 1;
  for (const member of members) {
    const between = bytes.subarray(end, member.start);
    end = member.end;
    const isEdited = Object.hasOwn(edits, member.key);
    if (isEdited) seen.add(member.key);
    if (isEdited && edits[member.key] === undefined) continue;
    parts.push(parts.length === 0 ? withoutComma(between) : between);
    if (isEdited)
      parts.push(bytes.subarray(member.start, member.value), JSON.stringify(edits[member.key]));
    else parts.push(bytes.subarray(member.start, member.end));
  }
  for (const [key, value] of Object.entries(edits))
    if (value !== undefined && !seen.has(key))
      parts.push(`${parts.length === 0 ? '' : ','}${JSON.stringify(key)}:${JSON.stringify(value)}`);
  const tail = bytes.subarray(end);
  const all = ['{', ...parts].map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  return Buffer.concat([...all, tail]);
}

/** Adds a member behind the last of a valid JSON object that has none of this name, without reading it. */
export function addMember(bytes: Buffer, key: string, json: string): Buffer {
  const end = bytes.lastIndexOf('}');
  let last = end - 1;
  while (isSpace(bytes[last])) last--;
  const separator = bytes[last] === brace ? '' : ',';
  const member = Buffer.from(`${separator}${JSON.stringify(key)}:${json}`);
  return Buffer.concat([bytes.subarray(0, end), member, bytes.subarray(end)]);
}

function withoutComma(between: Buffer): string {
  return between.toString('utf8').replace(',', '');
}

interface Member {
  key: string;
  /** Of the key, the value, and the byte behind the value. */
  start: number;
  value: number;
  end: number;
}

const comma = 0x2c;
const brace = 0x7b;

function membersOf(bytes: Buffer): Member[] {
  const members: Member[] = [];
  let at = skipSpace(bytes, bytes.indexOf('{') + 1);
  while (bytes[at] === quote) {
    const keyEnd = stringEnd(bytes, at);
    const value = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const end = valueEnd(bytes, value);
    members.push({ key: JSON.parse(bytes.toString('utf8', at, keyEnd)), start: at, value, end });
    at = skipSpace(bytes, end);
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
  }
  return members;
}

/** The position behind the value that starts at `start`. */
function valueEnd(bytes: Buffer, start: number): number {
  let depth = 0;
  let at = start;
  for (;;) {
    const byte = bytes[at];
    if (byte === undefined) return at;
    if (byte === quote) {
      at = stringEnd(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    const closes = byte === 0x7d || byte === 0x5d;
    // A number or a word ends in front of what follows it.
    if (depth === 0 && at > start && (closes || byte === comma || isSpace(byte))) return at;
    if (byte === 0x7b || byte === 0x5b) depth++;
    if (closes && --depth === 0) return at + 1;
    at++;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
