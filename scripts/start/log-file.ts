import { appendFileSync, renameSync, statSync } from 'node:fs';

const bytesMax = 10 * 1024 * 1024;

/** A sink that appends to the file and keeps one older file beside it: at most twice `limit` on disk. */
export function logFile(path: string, limit = bytesMax): (chunk: Buffer) => void {
  let size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return (chunk) => {
    if (size + chunk.length > limit && size > 0) {
      renameSync(path, `${path}.1`);
      size = 0;
    }
    appendFileSync(path, chunk, { mode: 0o600 });
    size += chunk.length;
  };
}
