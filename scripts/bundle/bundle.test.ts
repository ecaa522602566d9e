import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKeys, readPrivateKey } from './keys.ts';
import { makeBundle } from './make-bundle.ts';
import { preAuthentication } from './provenance.ts';

/** A bundle of images that are four bytes each: what is looked at is how it is put together. */
const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
};
let folder: string;
let bundle: string;
let publicKey: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bundle-'));
  const keys = makeKeys(join(folder, 'keys'));
  publicKey = keys.publicKey;
  bundle = await make(join(folder, 'out'), keys.privateKey);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function make(out: string, privateKey: string): Promise<string> {
  const images = join(folder, 'images');
  writeImages(images);
  mkdirSync(join(folder, 'gateway'), { recursive: true });
  writeFileSync(join(folder, 'gateway/LICENCES.txt'), notices);
  const chart = join(folder, 'chart.tgz');
  writeFileSync(chart, 'a chart');
  await makeBundle({
    root,
    images,
    built: folder,
    chart,
    facts: undefined,
    commit: 'c0ffee',
    key: readPrivateKey(privateKey),
    minisignKey: undefined,
    sourceSboms: new Map([['source.cdx.json', '{}']]),
    out,
    say: () => {},
  });
  return join(out, `sluice-${version}`);
}

const notices = 'undici 8.12.4, MIT\n';

function writeImages(dir: string): void {
  const blobs = join(dir, 'gateway/blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const put = (text: string) => {
    const hex = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(blobs, hex), text);
    return `sha256:${hex}`;
  };
  const platform = put('{"a":1}');
  const digest = put('{"b":2}');
  put('a layer');
  const index = {
    schemaVersion: 2,
    manifests: [
      { mediaType: 'application/vnd.oci.image.index.v1+json', digest, size: 7, annotations: {} },
    ],
  };
  writeFileSync(join(dir, 'gateway/index.json'), JSON.stringify(index));
  const image = {
    service: 'gateway',
    name: 'sluice/gateway',
    tag: version,
    digest,
    platforms: [
      {
        platform: 'linux/amd64',
        digest: platform,
        sboms: { cyclonedx: 'gateway-amd64.cdx.json', spdx: 'gateway-amd64.spdx.json' },
      },
    ],
  };
  writeFileSync(
    join(dir, 'gateway-amd64.cdx.json'),
    JSON.stringify({ components: [{ purl: 'pkg:npm/undici@8.12.4' }] }),
  );
  writeFileSync(join(dir, 'gateway-amd64.spdx.json'), '{}');
  const list = { version, created: '2026-11-01T00:00:00Z', images: [image] };
  writeFileSync(join(dir, 'images.json'), JSON.stringify(list));
}

/** What `verify.sh` says of a copy of the bundle that something was done to. */
function verdictOf(
  change: (dir: string) => void,
  { key = publicKey, as = {} }: { key?: string; as?: { uid?: number; gid?: number } } = {},
) {
  const copy = mkdtempSync(join(folder, 'copy-'));
  cpSync(bundle, copy, { recursive: true });
  change(copy);
  const { status, stdout, stderr } = spawnSync('sh', [join(copy, 'verify.sh'), '--key', key], {
    encoding: 'utf8',
    ...as,
  });
  rmSync(copy, { recursive: true });
  return { status, said: `${stdout}${stderr}`.trim() };
}

const filesOf = (dir: string) =>
  readFileSync(join(dir, 'SHA256SUMS'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(66));

describe('verify.sh', () => {
  it('takes what was signed', () => {
    const { status, said } = verdictOf(() => {});
    expect([status, said]).toEqual([0, expect.stringContaining('Verified: ')]);
  });

  it('refuses a changed byte in a file of any kind, by name', () => {
    // One of each folder, and all that stand at the top.
    const kinds = new Map(filesOf(bundle).map((path) => [path.replace(/(\/)[^/]*$/, '$1'), path]));
    expect(kinds.size).toBeGreaterThan(15);
    for (const path of kinds.values()) {
      const { status, said } = verdictOf((dir) => {
        const bytes = readFileSync(join(dir, path));
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        // The script that looks runs as it was: a changed one would have to be looked at from outside.
        if (path === 'verify.sh') appendFileSync(join(dir, path), '#');
        else writeFileSync(join(dir, path), bytes);
      });
      expect([status, said], path).toEqual([1, `${path}: is not what was signed`]);
    }
  });

  it.each([
    [
      'a missing file',
      (dir: string) => rmSync(join(dir, 'LICENSE')),
      'LICENSE: was signed, and is missing',
    ],
    [
      'a further file',
      (dir: string) => writeFileSync(join(dir, 'docs/.x'), ''),
      'docs/.x: is not signed',
    ],
    [
      'a link in the place of a file',
      (dir: string) => {
        rmSync(join(dir, 'LICENSE'));
        symlinkSync(join(bundle, 'LICENSE'), join(dir, 'LICENSE'));
      },
      'LICENSE: is no file',
    ],
    [
      'another list',
      (dir: string) => writeFileSync(join(dir, 'SHA256SUMS'), ''),
      `SHA256SUMS: is not what was signed, or not by the key `,
    ],
    [
      'no signature',
      (dir: string) => rmSync(join(dir, 'SHA256SUMS.sig')),
      'SHA256SUMS.sig: is missing',
    ],
  ])('refuses %s', (_what, change, message) => {
    const { status, said } = verdictOf(change);
    expect(status).toBe(1);
    expect(said).toContain(message);
  });

  it('refuses what it cannot read', () => {
    // Nothing is closed to root, who looks as somebody else here.
    const stranger = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const { status, said } = verdictOf(
      (dir) => {
        for (const path of [folder, dir]) chmodSync(path, 0o755);
        chmodSync(join(dir, 'LICENSE'), 0);
      },
      { as: stranger },
    );
    expect([status, said]).toEqual([1, 'LICENSE: cannot be read']);
  });

  it('refuses all of it by another key', () => {
    const other = makeKeys(join(folder, 'others'));
    const { status, said } = verdictOf(() => {}, { key: other.publicKey });
    expect([status, said]).toEqual([1, expect.stringContaining('not by the key')]);
  });
});

describe('install.sh', () => {
  const install = (place: string, args: readonly string[], path = process.env.PATH) => {
    const how = { encoding: 'utf8', env: { ...process.env, PATH: path } } as const;
    const { status, stdout, stderr } = spawnSync('sh', [join(place, 'install.sh'), ...args], how);
    return { status, said: `${stdout}${stderr}`.trim() };
  };

  it.each([
    [['--registry', 'https://registry.corp'], 'begins with a scheme'],
    [['--registry', 'registry.corp/Team'], 'has capital letters in its path'],
    [['--registry', 'registry.corp;id'], 'is no registry'],
    [['--registry', 'registry.corp', '--tool', 'docker'], '--tool: skopeo or podman'],
    [['--registry', 'registry.corp', '--containerd'], 'one of them at a time'],
  ])('refuses %j before it does anything', (args, sentence) => {
    const { status, said } = install(bundle, args);
    expect(said).toContain(sentence);
    expect(said).not.toContain('Verified');
    expect(status).toBe(2);
  });

  it('prints a line that a shell takes, whatever the folder is called', () => {
    const place = join(folder, "for the team's cluster");
    cpSync(bundle, place, { recursive: true });
    const programs = join(folder, 'programs');
    mkdirSync(programs);
    writeFileSync(join(programs, 'ctr'), '#!/bin/sh\ncat >/dev/null\n', { mode: 0o755 });
    writeFileSync(join(programs, 'helm'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const path = `${programs}:${process.env.PATH}`;
    const { said } = install(place, ['--containerd'], path);
    const line = said.split('\n').at(-1) ?? '';
    const told = execFileSync('sh', ['-c', line], { encoding: 'utf8', env: { PATH: path } });
    expect(told.split('\n')).toContain(join(place, `chart/sluice-${version}.tgz`));
    expect(told.split('\n')).toContain(join(place, 'values/airgap.yaml'));
  });
});

describe('the bundle', () => {
  it('is the same from the same parts, but for signatures and what holds them', async () => {
    const again = await make(join(folder, 'again'), join(folder, 'keys/sluice.key'));
    const sums = (dir: string) => readFileSync(join(dir, 'SHA256SUMS'), 'utf8').split('\n');
    const [first, second] = [sums(bundle), sums(again)];
    const differing = second.filter((line) => !first.includes(line)).map((line) => line.slice(66));
    const isSigned = (path: string) =>
      /^signatures\/.*\.sig$|^images\/index\.json$|^provenance\.intoto\.json$/.test(path) ||
      // Manifests that hold a signature.
      (path.startsWith('images/blobs/') &&
        readFileSync(join(again, path), 'utf8').includes('cosign'));
    expect(differing.filter((path) => !isSigned(path))).toEqual([]);
  });

  it('has signatures of images that openssl verifies, as files and as artifacts of the layout', () => {
    const payloads = filesOf(bundle).filter((path) => path.endsWith('.payload.json'));
    expect(payloads).toHaveLength(2);
    for (const path of payloads) {
      const signature = path.replace('.payload.json', '.sig');
      const flags = ['dgst', '-sha256', '-verify', publicKey, '-signature', signature, path];
      expect(execFileSync('openssl', flags, { cwd: bundle, encoding: 'utf8' })).toBe(
        'Verified OK\n',
      );
    }
    const index = JSON.parse(readFileSync(join(bundle, 'images/index.json'), 'utf8')) as {
      manifests: { digest: string; annotations: Record<string, string> }[];
    };
    const attached = index.manifests.filter(({ annotations }) =>
      annotations['org.opencontainers.image.ref.name']?.endsWith('.sig'),
    );
    expect(attached).toHaveLength(2);
    const blob = (digest: string) =>
      readFileSync(join(bundle, 'images/blobs', digest.replace(':', '/')));
    for (const { digest } of attached) {
      const { layers } = JSON.parse(blob(digest).toString('utf8')) as {
        layers: { digest: string; annotations: Record<string, string> }[];
      };
      const [layer] = layers;
      const signature = layer?.annotations['dev.cosignproject.cosign/signature'] ?? '';
      expect(
        verify(
          'sha256',
          blob(layer?.digest ?? ''),
          createPublicKey(readFileSync(publicKey)),
          Buffer.from(signature, 'base64'),
        ),
      ).toBe(true);
    }
  });

  it('has a signed statement on how it was made', () => {
    const envelope = JSON.parse(readFileSync(join(bundle, 'provenance.intoto.json'), 'utf8')) as {
      payload: string;
      signatures: { sig: string }[];
    };
    const payload = Buffer.from(envelope.payload, 'base64');
    const signature = Buffer.from(envelope.signatures[0]?.sig ?? '', 'base64');
    const key = createPublicKey(readFileSync(publicKey));
    expect(verify('sha256', preAuthentication(payload), key, signature)).toBe(true);
    expect(JSON.parse(payload.toString('utf8'))).toMatchObject({
      _type: 'https://in-toto.io/Statement/v1',
      predicateType: 'https://slsa.dev/provenance/v1',
      subject: [{ name: 'sluice/gateway' }],
    });
  });

  it('has what images are made of, and the packages among it in the statement', () => {
    expect(filesOf(bundle)).toEqual(
      expect.arrayContaining(['sbom/gateway-amd64.cdx.json', 'sbom/gateway-amd64.spdx.json']),
    );
    const { payload } = JSON.parse(
      readFileSync(join(bundle, 'provenance.intoto.json'), 'utf8'),
    ) as { payload: string };
    expect(Buffer.from(payload, 'base64').toString('utf8')).toContain('pkg:npm/undici@8.12.4');
  });
});

describe('keys', () => {
  it('are made once, the private one for its owner alone', () => {
    const dir = join(folder, 'keys');
    expect(statSync(join(dir, 'sluice.key')).mode & 0o777).toBe(0o600);
    expect(() => makeKeys(dir)).toThrow('is there already');
    expect(() => readPrivateKey(join(dir, 'sluice.pub'))).toThrow('sluice.pub: ');
  });
});
