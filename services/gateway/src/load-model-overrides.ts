import type { KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { SettingsError } from '@sluice/env';
import { type ModelOverrides, ModelOverridesError, readModelOverrides } from '@sluice/providers';
import { openSignedFolder, SignatureFault } from '@sluice/signed-files';

/**
 * The operator's rows, read once: a gateway that would ask by less than it was told does not start.
 * @param keys of whoever may sign the folder of the file; undefined = it needs no signature
 * @throws SettingsError with the path of the file, the place in it and the reason
 */
export async function loadModelOverrides(
  path: string | undefined,
  keys?: readonly KeyObject[],
): Promise<ModelOverrides | undefined> {
  if (path === undefined) return undefined;
  try {
    const bytes = await readFile(path);
    if (keys !== undefined)
      (await openSignedFolder(dirname(path), keys)).check(basename(path), bytes);
    return readModelOverrides(bytes.toString('utf8'));
  } catch (error) {
    const isKnown = error instanceof ModelOverridesError || error instanceof SignatureFault;
    if (!isKnown && !isFileError(error)) throw error;
    throw new SettingsError([`MODEL_FACTS_FILE: ${path}: ${error.message}`]);
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}
