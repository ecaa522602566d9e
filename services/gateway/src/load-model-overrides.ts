import { readFileSync } from 'node:fs';
import { type ModelOverrides, ModelOverridesError, readModelOverrides } from '@sluice/providers';

/**
 * The operator's rows, read once: a gateway that would ask by less than it was told does not start.
 * @throws Error with the path of the file, the place in it and the reason
 */
export function loadModelOverrides(path: string | undefined): ModelOverrides | undefined {
  if (path === undefined) return undefined;
  try {
    return readModelOverrides(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof ModelOverridesError) && !isFileError(error)) throw error;
    throw new Error(`MODEL_FACTS_FILE: ${path}: ${error.message}`, { cause: error });
  }
}

function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error;
}
