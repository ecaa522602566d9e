import { createHash } from 'node:crypto';
import { uuidText } from '@sluice/usage';

/** A UUID that follows from what tells the groups of a policy apart: values may be too long for an index. */
export function groupIdOf(valueKey: string): string {
  const bytes = createHash('sha256').update(valueKey).digest().subarray(0, 16);
  bytes[6] = 0x80 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  return uuidText(bytes);
}

/** Of a limit whose requests are not told apart. */
export const wholeGroupId: string = groupIdOf('');
