import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readableFolder, writableFolder } from './folders.ts';

const folder = mkdtempSync(join(tmpdir(), 'folders-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'file');
writeFileSync(file, '');
const closed = join(folder, 'closed');
mkdirSync(closed);
chmodSync(closed, 0o000);
// For whoever it is that reads it below.
chmodSync(folder, 0o755);
const nobody = 65_534;

/** Root may do everything: done as somebody else, where it is root who tests. */
function withoutRights(run: () => void): void {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(nobody);
  try {
    run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('a folder to write to', () => {
  it('is made, with those above it', () => {
    const path = join(folder, 'a', 'b');
    expect(writableFolder('DATA_DIR', path)).toBe(path);
    expect(writableFolder('DATA_DIR', path)).toBe(path);
    expect(existsSync(path)).toBe(true);
  });

  it.each([
    ['a file', file, 'there is a file in its place'],
    ['below a file', join(file, 'x', 'y'), `there is a file in its place.*at ${file}`],
    [
      'a file system without folders',
      '/proc/sluice/data',
      'takes no files and folders .ENOENT at /proc/sluice',
    ],
    ['a file system without files', '/proc', 'takes no files and folders .ENOENT'],
    ['a device', '/dev/null', 'there is a file in its place'],
  ])('is refused in one sentence: %s', (_name, path, reason) =>
    expect(() => writableFolder('DATA_DIR', path)).toThrow(
      new RegExp(
        `^The environment is not valid:\\n  DATA_DIR: the folder ${path} cannot be written: .*${reason}.*$`,
      ),
    ),
  );

  it('is refused where nothing may be written', () =>
    withoutRights(() => {
      for (const path of [closed, join(closed, 'x')])
        expect(() => writableFolder('DATA_DIR', path)).toThrow('has no right to (EACCES');
    }));
});

describe('a folder to read', () => {
  it.each([
    ['that is not there', join(folder, 'none'), 'it is not there (ENOENT)'],
    ['that is a file', file, 'there is a file in its place'],
  ])('%s is refused in one sentence', (_name, path, reason) => {
    expect(() => readableFolder('PRICE_FILES_DIR', path)).toThrow(reason);
    expect(existsSync(join(folder, 'none'))).toBe(false);
  });

  it('is not written to', () => expect(readableFolder('PRICE_FILES_DIR', '/proc')).toBe('/proc'));
});
