import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { SettingsError } from '@sluice/env';
import { readPublicKeys } from './keys.ts';

/**
 * The keys of a setting's file, read once.
 * @throws SettingsError that begins with the setting's name
 */
export function loadPublicKeys(
  setting: string,
  path: string | undefined,
): readonly KeyObject[] | undefined {
  if (path === undefined) return undefined;
  try {
    return readPublicKeys(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new SettingsError([`${setting}: ${path}: ${(error as Error).message}`]);
  }
}
