import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { defineEnv, optionalSecret, optionalText } from './define-env.ts';

describe('a value that names a file', () => {
  it('is replaced by its content, unless the variable is about a file or a path', () => {
    const folder = mkdtempSync(join(tmpdir(), 'define-env-'));
    try {
      const file = join(folder, 'value');
      writeFileSync(file, 'content\n');
      const specs = {
        SOME_SECRET: optionalSecret('a secret'),
        SOME_TOKEN_FILE: optionalText('read at each use'),
        SOME_CA_PATH: optionalText('a path'),
        SOME_DIR: optionalText('a folder'),
        SOME_RELATIVE_URI: optionalText('a path of an address'),
      };
      const source = Object.fromEntries(Object.keys(specs).map((name) => [name, file]));
      expect(defineEnv(specs, source)).toEqual({ ...source, SOME_SECRET: 'content' });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
