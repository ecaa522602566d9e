import type { JsonValue } from '@sluice/contracts';
import type { Piece, VoiceName } from './heard-event.ts';

/** Every text within a value that comes whole, each on its own. */
export function wholePieces(
  value: JsonValue | undefined,
  voice: Omit<VoiceName, 'key'>,
  path: readonly (string | number)[],
): Piece[] {
  if (typeof value === 'string') {
    if (value === '' || labels.has(path.at(-1))) return [];
    return [{ ...voice, key: '', text: value, path, isWhole: true }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const step = Array.isArray(value) ? Number(name) : name;
    return wholePieces(inner, voice, [...path, step]);
  });
}

/** Members that say what something is, and no words. */
const labels: ReadonlySet<unknown> = new Set([
  'type',
  'id',
  'call_id',
  'file_id',
  'encrypted_index',
  'encrypted_content',
]);
