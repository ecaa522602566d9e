import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readPublicKeys } from './keys.ts';

/**
 * The keys of a setting's file, read once.
 * @throws Error that begins with the setting's name
 */
export function loadPublicKeys(
  setting: string,
  path: string | undefined,
): readonly KeyObject[] | undefined {
  if (path === undefined) return undefined;
  try {
    return readPublicKeys(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${setting}: ${path}: ${(error as Error).message}`, { cause: error });
  }
}
