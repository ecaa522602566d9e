import { createCipheriv } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WholeBundle } from '../compiled/compiled-bundle.ts';
import { emptyTables, tableNames } from './bundle-tables.ts';
import { SnapshotFile } from './snapshot.ts';

let dir: string;
let file: SnapshotFile;
const path = () => join(dir, 'snapshot.bin');
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-snapshot-'));
  file = new SnapshotFile(path(), Buffer.alloc(32, 1));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function bundle(workspaceId: string, count: number): WholeBundle {
  const tables = emptyTables();
  for (let index = 0; index < count; index += 1) {
    const slug = `pc-${workspaceId}-${index}`;
    const bodyJson = JSON.stringify({ provider: `@secret-${index}` });
    const message = create(config.ConfigSchema, { slug, bodyJson });
    tables.configs.add(toBinary(config.ConfigSchema, message));
    const version = create(config.PromptVersionSchema, { id: slug, template: bodyJson });
    tables.promptVersions.add(toBinary(config.PromptVersionSchema, version));
  }
  return { source: create(config.BundleSchema, { workspaceId, hash: 'h' }), ...tables };
}

/** Tables compare by what is in them. */
const plain = ({ content, reason }: Awaited<ReturnType<SnapshotFile['load']>>) => ({
  reason,
  keys: content?.keys,
  bundles: content?.bundles.map((each) => [
    each.source,
    ...tableNames.map((name) => [...each[name].encoded()].map(String)),
  ]),
  organisations: content?.organisations,
});

const content = () => ({
  keys: Array.from({ length: 300 }, (_, index) => ({
    hashHex: index.toString(16).padStart(64, '0'),
    key: create(config.KeySchema, { id: `key ${index}` }),
  })),
  bundles: [bundle('none', 0), bundle('one', 1), bundle('many', 2_345), bundle('last', 100)],
  organisations: ['', '{"keys":[]}'].map((keyDocument, index) => ({
    organisation: create(config.OrganisationSchema, {
      id: `organisation ${index}`,
      jwtSettingsJson: '{"introspection":{"client_secret":"@secret-1"}}',
      workspaces: [{ id: 'w', slug: 's' }],
    }),
    keyDocument,
  })),
});

describe('SnapshotFile', () => {
  it('gives back what was saved, whatever the sizes', async () => {
    await file.save(content());
    expect(plain(await file.load())).toEqual(plain({ content: content() }));
    const empty = { keys: [], bundles: [], organisations: [] };
    await file.save(empty);
    expect(await file.load()).toEqual({ content: empty });
  });

  it('of a release that knew no organisations is used', async () => {
    const magic = Buffer.from('SLUICE2\n');
    const iv = Buffer.alloc(12, 7);
    const cipher = createCipheriv('aes-256-gcm', Buffer.alloc(32, 1), iv).setAAD(magic);
    // No keys, no bundles, and that was all.
    const body = Buffer.concat([cipher.update(Buffer.alloc(8)), cipher.final()]);
    writeFileSync(path(), Buffer.concat([magic, iv, body, cipher.getAuthTag()]));
    expect(await file.load()).toEqual({ content: { keys: [], bundles: [], organisations: [] } });
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
