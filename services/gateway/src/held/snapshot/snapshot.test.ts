import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BundleUpdate, type HeldBundle, updated } from '../held-bundle.ts';
import { emptyTables, sectionNames } from '../sections/index.ts';
import { type SnapshotContent, updateEntries } from './entries.ts';
import { Snapshot } from './snapshot.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-snapshot-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const folder = () => join(dir, 'held');
const releaseBefore = () => join(dir, 'snapshot.bin');
const logger = { error: (fields: object) => Promise.reject(fields) };

function snapshot(over: { key?: number; logBytesMax?: number; dir?: string } = {}): Snapshot {
  return new Snapshot({
    dir: over.dir ?? folder(),
    key: Buffer.alloc(32, over.key ?? 1),
    releaseBefore: releaseBefore(),
    logBytesMax: over.logBytesMax,
    logger,
  });
}

const encoded = (slug: string, body: string) =>
  toBinary(
    config.ConfigSchema,
    create(config.ConfigSchema, { id: `id of ${slug}`, slug, bodyJson: body }),
  );

/** All of a workspace, or what changed of it. */
function update(number: number, over: Partial<BundleUpdate>): BundleUpdate {
  const known = {
    revision: BigInt(number),
    stamp: `stamp ${number}`,
    coreHash: 'core',
    formats: { configs: 1 },
  };
  const since = number === 1 ? '' : `stamp ${number - 1}`;
  const { revision } = known;
  return {
    core: undefined,
    revision,
    hash: `h${number}`,
    known,
    since,
    startedOver: {},
    changes: {},
    ...over,
  };
}

function whole(workspaceId: string, count: number): BundleUpdate {
  const tables = emptyTables();
  for (let index = 0; index < count; index += 1) {
    const slug = `pc-${workspaceId}-${index}`;
    const bodyJson = JSON.stringify({ provider: `@secret-${index}` });
    tables.configs.add(encoded(slug, bodyJson));
    const version = create(config.PromptVersionSchema, { id: slug, template: bodyJson });
    tables.promptVersions.add(toBinary(config.PromptVersionSchema, version));
  }
  const core = create(config.BundleSchema, { workspaceId, workspaceName: 'W' });
  return update(1, { core, startedOver: tables });
}

/** Tables compare by what is in them. */
const plain = ({ content, reason }: Awaited<ReturnType<Snapshot['load']>>) => ({
  reason,
  keys: content?.keys,
  bundles: content?.bundles.map((each) => [
    each.source,
    each.known,
    ...sectionNames.map((name) =>
      [...each[name].encoded()].map((bytes) => Buffer.from(bytes).toString('hex')).sort(),
    ),
  ]),
  organisations: content?.organisations,
  keysMark: content?.keysMark,
});

const content = (): SnapshotContent => ({
  keys: Array.from({ length: 300 }, (_, index) => ({
    hashHex: index.toString(16).padStart(64, '0'),
    key: create(config.KeySchema, { id: `key ${index}` }),
  })),
  bundles: [
    ['none', 0],
    ['one', 1],
    ['many', 2_345],
    ['last', 100],
  ].map(([id, count]) => updated(undefined, whole(String(id), Number(count)))),
  organisations: ['', '{"keys":[]}'].map((keyDocument, index) => ({
    organisation: create(config.OrganisationSchema, {
      id: `organisation ${index}`,
      jwtSettingsJson: '{"introspection":{"client_secret":"@secret-1"}}',
      workspaces: [{ id: 'w', slug: 's' }],
    }),
    keyDocument,
  })),
  keysMark: 'mark 7',
});

/** Notes all of this, as a gateway does that gets it. */
function noteAll(
  file: Snapshot,
  { keys, bundles, organisations, keysMark }: SnapshotContent,
): void {
  for (const key of keys) file.note([{ kind: 'key', ...key }]);
  for (const { source } of bundles) {
    const count = { none: 0, one: 1, many: 2_345, last: 100 }[source.workspaceId] ?? 0;
    file.note(updateEntries(source.workspaceId, whole(source.workspaceId, count)));
  }
  for (const each of organisations) file.note([{ kind: 'organisation', ...each }]);
  file.note([{ kind: 'keysMark', mark: keysMark }]);
}

const only = async (name: RegExp) => {
  const found = readdirSync(folder()).filter((each) => name.test(each));
  expect(found).toHaveLength(1);
  return join(folder(), found[0] ?? '');
};

describe('Snapshot', () => {
  it.each([
    ['from its log', undefined],
    ['from a base', 1],
  ])('gives back what was noted, whatever the sizes, %s', async (_from, logBytesMax) => {
    expect(await snapshot().load()).toEqual({});
    const file = snapshot({ logBytesMax });
    await file.load();
    file.content = content;
    noteAll(file, content());
    await file.close();
    expect(readdirSync(folder()).some((name) => name.endsWith('.base'))).toBe(
      logBytesMax !== undefined,
    );
    expect(plain(await snapshot().load())).toEqual(plain({ content: content() }));
  });

  it('writes of a change what it is long, and makes a new base when the log has grown', async () => {
    const file = snapshot({ logBytesMax: 100_000 });
    await file.load();
    let held = updated(undefined, whole('ws', 2_000));
    file.content = () => ({ keys: [], bundles: [held], organisations: [], keysMark: '' });
    file.note(updateEntries('ws', whole('ws', 2_000)));
    await file.flush();
    const base = await only(/base$/);
    for (let number = 2; number <= 80; number += 1) {
      const upserts = [encoded(`pc-ws-${number % 7}`, `${number} ${'x'.repeat(900)}`)];
      const change = update(number, {
        changes: { configs: { upserts, gone: [`id of pc-ws-${400 + number}`] } },
      });
      held = updated(held, change);
      file.note(updateEntries('ws', change));
      await file.flush();
      const log = readFileSync(await only(/log$/));
      if (number === 2) expect(log.length).toBeLessThan(2_000);
    }
    expect(await only(/base$/)).toBe(base);
    expect(plain(await snapshot().load())).toEqual(
      plain({ content: { keys: [], bundles: [held], organisations: [], keysMark: '' } }),
    );
    for (let index = 0; index < 400; index += 1)
      file.note([
        {
          kind: 'key',
          hashHex: 'ab'.repeat(32),
          key: create(config.KeySchema, { name: 'x'.repeat(900) }),
        },
      ]);
    await file.flush();
    expect(await only(/base$/)).not.toBe(base);
    await file.close();
  });

  it('of the release before is used, and replaced when a base is written', async () => {
    cpSync(join(import.meta.dirname, 'fixtures', 'release-before.bin'), releaseBefore());
    const file = snapshot();
    const loaded = (await file.load()).content;
    expect(loaded?.keys).toMatchObject([{ hashHex: 'ab'.repeat(32), key: { id: 'key' } }]);
    const [empty, large] = loaded?.bundles ?? [];
    expect(empty?.source).toMatchObject({ workspaceId: 'empty', hash: 'h1', revision: 4n });
    expect(large).toMatchObject({ known: undefined, source: { providers: [{ apiKey: 'sk-x' }] } });
    expect(large?.configs.get('pc-two')?.versionId).toBe('version of pc-two');
    expect(large?.prompts.get('pp-one')?.id).toBe('prompt');
    expect(large?.promptVersions.get('prompt@1')?.template).toBe('Hello');
    expect(loaded?.organisations).toMatchObject([
      { organisation: { id: 'organisation' }, keyDocument: '{"keys":[]}' },
    ]);
    file.content = () => loaded as SnapshotContent;
    await file.close();
    expect(existsSync(releaseBefore())).toBe(false);
    expect(plain(await snapshot().load())).toEqual(plain({ content: loaded }));
  });

  it('leaves nothing readable on disk', async () => {
    const file = snapshot({ logBytesMax: 1 });
    await file.load();
    file.content = content;
    noteAll(file, content());
    await file.flush();
    file.note([{ kind: 'key', ...content().keys[0] } as never]);
    await file.close();
    for (const name of readdirSync(folder())) {
      const bytes = readFileSync(join(folder(), name));
      expect(bytes.includes('@secret-1')).toBe(false);
      expect(bytes.includes('pc-many')).toBe(false);
    }
  });

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ['changed in one bit', (bytes: Buffer) => bytes.fill((bytes[5_000] ?? 0) ^ 1, 5_000, 5_001)],
    ['empty but for its first bytes', (bytes: Buffer) => bytes.subarray(0, 20)],
    ['of something else', () => Buffer.from('hello')],
  ])('a base that is %s is not used', async (_name, damage) => {
    const file = snapshot({ logBytesMax: 1 });
    await file.load();
    file.content = content;
    noteAll(file, content());
    await file.close();
    const path = await only(/base$/);
    writeFileSync(path, damage(readFileSync(path)));
    rmSync(await only(/log$/));
    expect(await snapshot().load()).toEqual({ reason: expect.any(String) });
  });

  it('is of no use under another key', async () => {
    const file = snapshot();
    await file.load();
    noteAll(file, content());
    await file.close();
    expect(await snapshot({ key: 2 }).load()).toEqual({ reason: expect.any(String) });
  });

  it('cut off at any byte holds what was written until then', async () => {
    const file = snapshot();
    await file.load();
    const states: string[] = [];
    const lengths: number[] = [];
    let held: HeldBundle | undefined;
    for (let number = 1; number <= 12; number += 1) {
      const change =
        number === 1
          ? whole('ws', 3)
          : update(number, {
              changes: { configs: { upserts: [encoded('pc-ws-1', `body ${number}`)], gone: [] } },
            });
      held = updated(held, change);
      file.note(updateEntries('ws', change));
      await file.flush();
      states.push(held.source.hash);
      lengths.push(readFileSync(await only(/log$/)).length);
    }
    await file.close();
    const bytes = readFileSync(await only(/log$/));
    const elsewhere = join(dir, 'cut');
    for (let length = lengths[0] ?? 0; length <= bytes.length; length += 7) {
      rmSync(elsewhere, { recursive: true, force: true });
      cpSync(folder(), elsewhere, { recursive: true });
      writeFileSync(join(elsewhere, '1.log'), bytes.subarray(0, length));
      const { content: found } = await snapshot({ dir: elsewhere }).load();
      const whole = lengths.filter((each) => each <= length).length;
      expect(found?.bundles[0]?.source.hash).toBe(states[whole - 1]);
    }
  });

  it('after a part that was damaged is in force, but not built upon', async () => {
    const file = snapshot();
    await file.load();
    file.note(updateEntries('ws', whole('ws', 3)));
    await file.flush();
    const before = readFileSync(await only(/log$/)).length;
    const change = (number: number) =>
      updateEntries(
        'ws',
        update(number, { changes: { configs: { upserts: [], gone: [`id of pc-ws-${number}`] } } }),
      );
    file.note(change(2));
    await file.close();
    const next = snapshot();
    await next.load();
    next.note(change(3));
    await next.close();
    const path = join(folder(), '1.log');
    writeFileSync(path, readFileSync(path).subarray(0, before));
    const { content: found } = await snapshot().load();
    expect(found?.bundles).toMatchObject([{ source: { hash: 'h3' }, known: undefined }]);
  });

  it('after a part that was cut off says nothing of how fresh the keys are, until it is written anew', async () => {
    const file = snapshot();
    await file.load();
    const key = create(config.KeySchema, { id: 'key' });
    file.note([{ kind: 'keysMark', mark: 'mark 6' }]);
    await file.flush();
    file.note([{ kind: 'key', hashHex: 'ab'.repeat(32), key }]);
    await file.close();
    const path = join(folder(), '1.log');
    writeFileSync(path, readFileSync(path).subarray(0, -1));
    const next = snapshot();
    // What was lost may have been keys that a mark counts on.
    expect((await next.load()).content?.keysMark).toBe('');
    next.content = content;
    await next.close();
    expect((await snapshot().load()).content?.keysMark).toBe('mark 7');
  });

  it('of a process that was killed at any moment holds what it had said to hold', async () => {
    const script = join(import.meta.dirname, 'fixtures', 'write-forever.ts');
    let number = 0;
    // A busy machine writes little before it is killed.
    for (let kill = 0; kill < 8 || number <= 50; kill += 1) {
      const writer = spawn(process.execPath, [script, folder(), String(number)]);
      let said = '';
      writer.stdout.on('data', (bytes) => {
        said += String(bytes);
      });
      await once(writer.stdout, 'data');
      await new Promise((resolve) => setTimeout(resolve, 20 + 37 * (kill % 8)));
      writer.kill('SIGKILL');
      await once(writer, 'close');
      const lastSaid = Number(said.trim().split('\n').at(-1));
      const { content: found } = await snapshot().load();
      const revision = Number(found?.bundles[0]?.source.revision);
      expect(revision).toBeGreaterThanOrEqual(lastSaid);
      const item = found?.bundles[0]?.configs.get(`pc-${revision % 50}`);
      expect(item?.bodyJson.startsWith(`${revision} `)).toBe(true);
      expect(found?.keys[0]?.key.name).toBe(String(revision));
      number = revision;
    }
  });
});
