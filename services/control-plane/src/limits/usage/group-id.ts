import { createHash } from 'node:crypto';

/** A UUID that follows from what tells the groups of a policy apart: values may be too long for an index. */
export function groupIdOf(valueKey: string): string {
  const bytes = createHash('sha256').update(valueKey).digest().subarray(0, 16);
  bytes[6] = 0x80 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Of a limit whose requests are not told apart. */
export const wholeGroupId: string = groupIdOf('');
