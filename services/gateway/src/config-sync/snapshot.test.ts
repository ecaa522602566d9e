import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SnapshotFile } from './snapshot.ts';

let dir: string;
let file: SnapshotFile;
const path = () => join(dir, 'snapshot.bin');
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-snapshot-'));
  file = new SnapshotFile(path(), Buffer.alloc(32, 1));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const bundle = (workspaceId: string, configs: number) =>
  create(config.BundleSchema, {
    workspaceId,
    hash: `hash of ${workspaceId}`,
    configs: Array.from({ length: configs }, (_, index) => ({
      slug: `pc-${workspaceId}-${index}`,
      bodyJson: JSON.stringify({ provider: `@secret-${index}` }),
    })),
  });

const content = () => ({
  keys: Array.from({ length: 300 }, (_, index) => ({
    hashHex: index.toString(16).padStart(64, '0'),
    key: create(config.KeySchema, { id: `key ${index}` }),
  })),
  // Bundles of no, of some and of many parts.
  bundles: [bundle('none', 0), bundle('one', 1), bundle('many', 2_345), bundle('last', 100)],
});

describe('SnapshotFile', () => {
  it('gives back what was saved, whatever the sizes', async () => {
    await file.save(content());
    expect(await file.load()).toEqual({ content: content() });
    await file.save({ keys: [], bundles: [] });
    expect(await file.load()).toEqual({ content: { keys: [], bundles: [] } });
  });

  it('leaves nothing readable on disk', async () => {
    await file.save(content());
    const bytes = readFileSync(path());
    expect(bytes.includes('@secret-1')).toBe(false);
    expect(bytes.includes('pc-many')).toBe(false);
  });

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ['changed in one bit', (bytes: Buffer) => bytes.fill((bytes[5_000] ?? 0) ^ 1, 5_000, 5_001)],
    ['empty but for its first bytes', (bytes: Buffer) => bytes.subarray(0, 20)],
    ['of something else', () => Buffer.from('hello')],
  ])('a file that is %s is not used', async (_name, damage) => {
    await file.save(content());
    writeFileSync(path(), damage(readFileSync(path())));
    expect(await file.load()).toEqual({ reason: expect.any(String) });
  });
});
