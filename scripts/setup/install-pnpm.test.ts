import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** A registry of our own that serves one tarball as pnpm, and says that it is the right one. */

const folder = mkdtempSync(join(tmpdir(), 'install-pnpm-'));
let tarball: Buffer;
let registry: Server;
let origin: string;

const integrityOf = (bytes: Buffer) =>
  `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

beforeAll(async () => {
  const source = join(folder, 'package');
  mkdirSync(source);
  const scripts = { preinstall: 'touch ran', install: 'touch ran', postinstall: 'touch ran' };
  writeFileSync(
    join(source, 'package.json'),
    JSON.stringify({ name: 'pnpm', version: '12.21.0', scripts }),
  );
  const packed = join(folder, 'pnpm.tgz');
  execFileSync('tar', ['-czf', packed, '-C', folder, 'package']);
  tarball = readFileSync(packed);
  registry = createServer((req, res) => {
    if (req.url?.endsWith('.tgz') === true) return void res.end(tarball);
    const dist = { tarball: `${origin}/pnpm.tgz`, integrity: integrityOf(tarball) };
    const version = { name: 'pnpm', version: '12.21.0', scripts, hasInstallScript: true, dist };
    const name = decodeURIComponent(req.url ?? '').slice(1);
    if (name !== 'pnpm') return void res.writeHead(404).end('{}');
    res.setHeader('content-type', 'application/json');
    res.end(
      JSON.stringify({
        name,
        'dist-tags': { latest: version.version },
        versions: { [version.version]: version },
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  origin = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
});
afterAll(() => {
  registry.close();
  rmSync(folder, { recursive: true });
});

/** Installs from our registry; what npm said, and whether it was content. */
async function install(into: string, from?: string): Promise<{ ok: boolean; said: string }> {
  const module = new URL('./install-pnpm.mjs', import.meta.url).href;
  const script = `
    import { spawnSync } from 'node:child_process';
    const { installPnpm } = await import(${JSON.stringify(module)});
    const npm = (args) => {
      if (spawnSync('npm', args, { stdio: 'inherit' }).status !== 0) throw new Error('npm failed');
    };
    installPnpm(${JSON.stringify(into)}, npm, ${from === undefined ? 'undefined' : JSON.stringify(from)});`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: {
      ...process.env,
      npm_config_registry: origin,
      npm_config_cache: join(folder, 'cache'),
      npm_config_fetch_retries: '0',
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  return { ok: code === 0, said };
}

describe('installPnpm', () => {
  it('takes nothing that has another hash, whatever the registry says', async () => {
    const into = join(folder, 'refused');
    const { ok, said } = await install(into);
    expect(ok).toBe(false);
    expect(said).toContain('EINTEGRITY');
    expect(existsSync(join(into, 'node_modules/pnpm/package.json'))).toBe(false);
  });

  it('runs nothing of what it takes', async () => {
    const from = join(folder, 'pinned');
    mkdirSync(from);
    const manifest = { name: 'toolchain', private: true, dependencies: { pnpm: '12.21.0' } };
    const lock = {
      name: 'toolchain',
      lockfileVersion: 3,
      packages: {
        '': { dependencies: manifest.dependencies },
        'node_modules/pnpm': {
          version: '12.21.0',
          integrity: integrityOf(tarball),
          hasInstallScript: true,
        },
      },
    };
    writeFileSync(join(from, 'manifest.json'), JSON.stringify(manifest));
    writeFileSync(join(from, 'lock.json'), JSON.stringify(lock));
    const into = join(folder, 'taken');
    expect(await install(into, from)).toMatchObject({ ok: true });
    expect(existsSync(join(into, 'node_modules/pnpm/package.json'))).toBe(true);
    expect(existsSync(join(into, 'node_modules/pnpm/ran'))).toBe(false);
  });
});
