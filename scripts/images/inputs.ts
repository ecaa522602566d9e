import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Architecture } from './platforms.ts';

export const root = resolve(import.meta.dirname, '../..');
export const inputsFile = join(root, 'deploy/images/inputs.json');
/** What was fetched, and layers that were packed before. */
export const cacheFolder = join(root, '.toolchain/images');

/** What the images are made of beside our code, each file with the digest that it must have. */
export interface Inputs {
  /** Binary packages of Debian: by architecture, then by name. */
  debian: Record<Architecture, Record<string, { version: string; sha256: string }>>;
  node: {
    version: string;
    /** `integrity` is that of the npm package, `sha256` that of the program in it. */
    packages: Record<Architecture, { integrity: string; sha256: string }>;
  };
}

export const readInputs = (): Inputs => JSON.parse(readFileSync(inputsFile, 'utf8')) as Inputs;

/** Said to the person who builds, without a stack. */
export class ImageError extends Error {}
