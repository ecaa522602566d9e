import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bytesSecret, csv, defineEnv, optionalSecret, optionalText, secret } from './define-settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'define-env-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'value');
writeFileSync(file, 'content\n');

/** What a service would print instead of starting. */
function faultOf(spec: ReturnType<typeof optionalText>, value: string): string {
  try {
    defineEnv({ SETTING: spec }, { SETTING: value });
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the setting was taken');
}

describe('a value that names a file', () => {
  it('is replaced by its content, unless the variable is about a file or a path', () => {
    const specs = {
      SOME_SECRET: optionalSecret('a secret'),
      SOME_TOKEN_FILE: optionalText('read at each use'),
      SOME_CA_PATH: optionalText('a path'),
      SOME_DIR: optionalText('a folder'),
      SOME_RELATIVE_URI: optionalText('a path of an address'),
    };
    const source = Object.fromEntries(Object.keys(specs).map((name) => [name, file]));
    expect(defineEnv(specs, source)).toEqual({ ...source, SOME_SECRET: 'content' });
  });

  it.each([
    ['a secret', secret('a secret')],
    ['a text', optionalText('a text')],
    ['a list', csv('a list') as never],
  ])('never becomes %s itself when there is no such file', (_kind, spec) => {
    const missing = join(folder, 'no-such-file-of-a-secret');
    expect(faultOf(spec, missing)).toBe(
      `The environment is not valid:\n  SETTING names the file ${missing}, which cannot be read (ENOENT); a value that begins with a slash itself must be put into a file (${spec.about})`,
    );
  });

  it('is refused when it is a folder, unreadable, empty or enormous', () => {
    const spec = optionalSecret('a secret');
    mkdirSync(join(folder, 'sub'));
    expect(faultOf(spec, join(folder, 'sub'))).toContain('which is not a file');
    expect(faultOf(spec, '/dev/zero')).toContain('/dev/zero, which is not a file');
    writeFileSync(join(folder, 'empty'), '\n');
    expect(faultOf(spec, join(folder, 'empty'))).toContain('names an empty file');
    writeFileSync(join(folder, 'large'), Buffer.alloc(1024 * 1024 + 1));
    expect(faultOf(spec, join(folder, 'large'))).toContain('more than 1048576 bytes');
    expect(faultOf(spec, join(file, 'below-a-file'))).toContain('ENOTDIR');
    chmodSync(file, 0o000);
    // Root may read everything.
    if (process.getuid?.() !== 0) expect(faultOf(spec, file)).toContain('EACCES');
  });

  it('is not printed where it may be the secret: base64 may begin with a slash', () => {
    const value = `/${Buffer.alloc(31, 0xa5).toString('base64')}`;
    for (const spec of [secret('a secret'), bytesSecret('a key', 32) as never]) {
      const fault = faultOf(spec, value);
      expect(fault).toContain('SETTING names the file (not shown');
      expect(fault).not.toContain(value.slice(1, 12));
    }
    expect(faultOf(secret('a secret'), '/aGVsbG8/d29ybGQ=')).not.toContain('d29ybGQ');
  });
});
