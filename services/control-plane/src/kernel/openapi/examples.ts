import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One call of an operation, and what it answers. Written by the contract test: what it sent, with neutral ids. */
export interface OperationExample {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly answer: unknown;
}

/** A file for each resource: its operations by their names. */
export const examplesFolder = join(import.meta.dirname, 'examples');

/** All examples, by the names of the operations. Read when the document is made, and not kept. */
export function readExamples(): Readonly<Record<string, OperationExample>> {
  const files = readdirSync(examplesFolder).filter((name) => name.endsWith('.json'));
  return Object.assign(
    {},
    ...files.map((name) => JSON.parse(readFileSync(`${examplesFolder}/${name}`, 'utf8'))),
  );
}
