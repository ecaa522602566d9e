import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Files for rows on their way into the embedded engine: what is sent with a statement ends there at two line ends,
 * which bytes of rows may be. One that a killed process left is written over by the next.
 */
export function blockFile(dataDir: string) {
  const free: string[] = [];
  let count = 0;
  return {
    async hold<T>(bytes: Buffer, use: (path: string) => Promise<T>): Promise<T> {
      count += free.length === 0 ? 1 : 0;
      const path = free.pop() ?? join(dataDir, `intake-${count}.native`);
      try {
        await writeFile(path, bytes);
        return await use(path);
      } finally {
        await rm(path, { force: true });
        free.push(path);
      }
    },
  };
}
