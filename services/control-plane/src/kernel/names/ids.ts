import { randomBytes } from 'node:crypto';
import { isUuid, uuidText } from '@sluice/usage';

export { isUuid } from '@sluice/usage';

/** Names, of which UUIDs are spelled as they are kept. */
export function idsAsKept(names: readonly string[]): string[] {
  return names.map((name) => (isUuid(name) ? name.toLowerCase() : name));
}

/** A UUIDv7: sorted by time of creation, so that indexes grow at one end. */
export function newId(now: number = Date.now()): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] as number) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  return uuidText(bytes);
}
