import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packLayer } from './layer.ts';
import { writeImage } from './make-images.ts';
import { type Descriptor, mediaTypes, verifyLayout } from './oci-layout.ts';
import { directory, file, readTar, symlink, type TarEntry, writeTar } from './tar.ts';

const dir = mkdtempSync(join(tmpdir(), 'sluice-images-'));
afterAll(() => rmSync(dir, { recursive: true }));

const entries: readonly TarEntry[] = [
  file('usr/local/bin/node', 'a program', { mode: 0o755 }),
  symlink('etc/localtime', '/usr/share/zoneinfo/Etc/UTC'),
  directory('tmp', { mode: 0o1777 }),
  file(`${'long/'.repeat(30)}${'n'.repeat(120)}.txt`, 'a long path'),
];

describe('an archive', () => {
  it('is the same bytes whatever the order of its entries, and has the folders to them', async () => {
    const archive = await writeTar(entries);
    expect(await writeTar([...entries].reverse())).toEqual(archive);
    const read = await readTar(archive);
    expect(read.map(({ path }) => path)).toEqual(read.map(({ path }) => path).toSorted());
    expect(read).toContainEqual(directory('usr/local/bin'));
    expect(read).toEqual(expect.arrayContaining([...entries]));
  });

  it('is one that tar reads', async () => {
    const listed = spawnSync('tar', ['-tvf', '-'], { input: await writeTar(entries) });
    expect(listed.stderr.toString()).toBe('');
    expect(listed.stdout.toString()).toMatch(/^drwxrwxrwt 0\/0 .* 1970-01-01 .* tmp\/$/m);
    expect(listed.stdout.toString()).toMatch(/^-rwxr-xr-x 0\/0 .* usr\/local\/bin\/node$/m);
  });

  it('refuses what would lie in a file', async () => {
    await expect(writeTar([file('a', ''), file('a/b', '')])).rejects.toThrow('no folder');
  });
});

describe('an image', () => {
  async function write(out: string) {
    const systems = new Map(
      await Promise.all(
        (['amd64', 'arm64'] as const).map(async (architecture) => {
          const layer = await packLayer([file('lib/libc.so', architecture)]);
          const layers = [{ layer, what: 'libraries' }];
          return [architecture, { layers, debian: [], node: { version: '24.0.0' } }] as const;
        }),
      ),
    );
    const app = await packLayer([file('app/main.mjs', 'a service')]);
    const release = { version: '1.2.3', created: '2026-01-02T03:04:05Z', revision: 'abc' };
    return writeImage({ service: 'gateway', app, systems, release, out });
  }
  let image: Awaited<ReturnType<typeof write>>;
  const out = join(dir, 'one');
  const json = (path: string) => JSON.parse(readFileSync(join(out, 'gateway', path), 'utf8'));
  const blob = ({ digest }: { digest: string }) => `blobs/${digest.replace(':', '/')}`;
  beforeAll(async () => {
    image = await write(out);
  });

  it('is an OCI layout whose digests, sizes and types are right', () => {
    const { manifests } = verifyLayout(join(out, 'gateway'));
    expect(manifests.map(({ platform }) => platform)).toEqual([
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux', variant: 'v8' },
    ]);
    const [index] = json('index.json').manifests as Descriptor[];
    expect(index).toMatchObject({
      mediaType: mediaTypes.index,
      digest: image.digest,
      annotations: { 'org.opencontainers.image.ref.name': 'docker.io/sluice/gateway:1.2.3' },
    });
    const manifest = json(blob(manifests[0] as Descriptor));
    expect(manifest.config.mediaType).toBe(mediaTypes.config);
    expect(manifest.layers.map((layer: Descriptor) => layer.mediaType)).toEqual([
      mediaTypes.layer,
      mediaTypes.layer,
    ]);
    // Nothing else lies in it.
    expect(readdirSync(join(out, 'gateway/blobs/sha256'))).toHaveLength(1 + 2 + 2 + 3);
  });

  it('says who runs it and how, and what its layers are unpacked', async () => {
    const { manifests } = verifyLayout(join(out, 'gateway'));
    const { config, layers } = json(blob(manifests[1] as Descriptor));
    const { config: run, rootfs, architecture, created } = json(blob(config));
    expect({ architecture, created }).toEqual({
      architecture: 'arm64',
      created: '2026-01-02T03:04:05Z',
    });
    expect(run).toMatchObject({ User: '65532:0', WorkingDir: '/app', Volumes: { '/data': {} } });
    expect(run.Entrypoint[0]).toBe('/usr/local/bin/node');
    expect(run.Entrypoint).toContain('--max-semi-space-size=16');
    expect(run.Entrypoint.at(-1)).toBe('/app/main.mjs');
    expect(run.Env).toEqual(expect.arrayContaining(['MALLOC_ARENA_MAX=1', 'NODE_ENV=production']));
    expect(run.Labels['org.opencontainers.image.revision']).toBe('abc');
    const packed = readFileSync(join(out, 'gateway', blob(layers[0])));
    expect(rootfs.diff_ids[0]).toBe((await packLayer([file('lib/libc.so', 'arm64')])).diffId);
    expect((await readTar(gunzipSync(packed))).at(-1)?.content?.toString()).toBe('arm64');
  });

  it('is the same bytes when it is made again', async () => {
    const again = join(dir, 'two');
    expect(await write(again)).toEqual(image);
    const archives = [out, again].map((folder) => readFileSync(join(folder, 'gateway.oci.tar')));
    expect(archives[1]).toEqual(archives[0]);
    expect(statSync(join(out, 'gateway.oci.tar')).size).toBeGreaterThan(1000);
  });

  it('is known to be damaged', async () => {
    const hurt = join(dir, 'hurt');
    const { digest } = await write(hurt);
    appendFileSync(join(hurt, 'gateway', blob({ digest })), ' ');
    expect(() => verifyLayout(join(hurt, 'gateway'))).toThrow(digest);
  });
});
