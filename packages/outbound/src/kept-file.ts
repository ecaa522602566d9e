import { readFileSync, statSync } from 'node:fs';

/** A system's file is small; what is larger is not what we think it is. */
const bytesMax = 1024 * 1024;
/** How long a file is taken to be as it was. */
const checkedEveryMs = 1_000;

/**
 * What is read out of a small file that may change: read again when it did.
 * Reading blocks, for less time than a thread of the pool may have to be waited
 * for. A file that is not there, or too large, reads as an empty one.
 */
export function keepFile<Content>(path: string, parse: (text: string) => Content): () => Content {
  let version: string | undefined;
  let content: Content;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    const nowMs = performance.now();
    if (nowMs - checkedAtMs < checkedEveryMs) return content;
    checkedAtMs = nowMs;
    const stats = statSync(path, { throwIfNoEntry: false });
    const seen = stats === undefined ? '' : `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
    if (seen === version) return content;
    version = seen;
    content = parse(
      stats?.isFile() === true && stats.size <= bytesMax ? readFileSync(path, 'utf8') : '',
    );
    return content;
  };
}
