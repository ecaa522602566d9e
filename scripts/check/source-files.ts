import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A source file: its path from the root of the repository, with forward slashes, and its text. */
export interface SourceFile {
  path: string;
  text: string;
}

/** Every source file of ours below a checkout, generated code apart. */
export function readSourceFiles(root: string): SourceFile[] {
  const files: SourceFile[] = [];
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!['node_modules', 'generated', 'gen', 'fixtures'].includes(entry.name)) walk(path);
      } else if (/\.(ts|mjs)$/.test(entry.name)) {
        files.push({ path: relative(root, path), text: readFileSync(path, 'utf8') });
      }
    }
  };
  for (const top of ['packages', 'services', 'scripts']) walk(join(root, top));
  return files;
}
