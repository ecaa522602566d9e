import { memberSpans } from '@sluice/json';
import type { MemberEdits } from '@sluice/providers';

/**
 * Changes members at the top of JSON text, and leaves every other byte alone:
 * order, spacing, number forms and doubled keys survive. All members of a name
 * are changed; one that is not there is added behind the last. `bytes` must be a
 * valid JSON object.
 */
export function editMembers(bytes: Buffer, edits: MemberEdits): Buffer {
  const members = memberSpans(bytes, bytes.indexOf('{'));
  const parts: (Buffer | string)[] = [];
  const seen = new Set<string>();
  let end = bytes.indexOf('{') + 1;
  for (const member of members) {
    const between = bytes.subarray(end, member.keyStart);
    end = member.end;
    const isEdited = Object.hasOwn(edits, member.key);
    if (isEdited) seen.add(member.key);
    if (isEdited && edits[member.key] === undefined) continue;
    parts.push(parts.length === 0 ? withoutComma(between) : between);
    if (isEdited)
      parts.push(bytes.subarray(member.keyStart, member.start), JSON.stringify(edits[member.key]));
    else parts.push(bytes.subarray(member.keyStart, member.end));
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

const brace = 0x7b;

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
