import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '@sluice/stack';
import {
  builtService,
  debianServer,
  eventually,
  startStack,
  type TestStack,
  temporaryFolder,
  waitMs,
} from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readBuilt } from '../build.ts';
import { readInputs } from './inputs.ts';
import { makeImages } from './make-images.ts';
import { type Architecture, ownArchitecture } from './platforms.ts';
import { confined, type UnpackedImage, unpackImage } from './run-image.ts';

// The gateway's image for this machine, run as a hardened cluster runs it, beside the parts of a stack.
const architecture = ownArchitecture() as Architecture;
let stack: TestStack;
let image: UnpackedImage;
let out: string;
let bwrap: string;
let gateway: ChildProcess;
let log = '';
let url: string;
let data: string;

beforeAll(async () => {
  bwrap = debianServer('bwrap');
  const folder = await temporaryFolder('image');
  out = join(folder, 'images');
  mkdirSync(out);
  stack = await startStack({ processes: ['gateway'], logStore: true });
  // Writes layers without a pause: who is just letting this process in, a Postgres say, would give it up after a minute.
  await makeImage();
  image = unpackImage(join(out, 'gateway'), architecture, join(folder, 'rootfs'));
  data = join(folder, 'data');
  mkdirSync(data);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const env = {
    ...settingsOf(stack.part('gateway').pid as number),
    PORT: String(port),
    METRICS_PORT: '0',
    LOG_STORE_DIR: '/data/logs',
  };
  gateway = spawn(bwrap, confined(image, { data, env }), { stdio: ['ignore', 'ignore', 'pipe'] });
  gateway.stderr?.on('data', (chunk) => {
    log += chunk;
  });
  await eventually(() => expect(log).toContain('"msg":"ready"'));
  // What a cold cache needs is fetched first.
});
afterAll(async () => {
  gateway?.kill('SIGTERM');
  await stack?.stop();
});

async function makeImage() {
  await makeImages({
    inputs: readInputs(),
    release: { version: '0.0.0', created: '2026-01-01T00:00:00Z' },
    services: ['gateway'],
    architectures: [architecture],
    built: async (service) => readBuilt(dirname(await builtService(service as 'gateway'))),
    out,
    say: () => {},
    // What is in it is looked at, not how small it is: nothing is packed.
    gzipLevel: 0,
  });
}

/** What the stack gave its own gateway, without what concerns its process. */
function settingsOf(pid: number): Record<string, string | undefined> {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  const env = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  for (const name of ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE', 'DATA_DIR']) delete env[name];
  return env;
}

/** Of what bubblewrap runs, which gets no signals from it. */
function confinedPid(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? pid : confinedPid(Number(children.split(' ')[0]));
}

function ask(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': stack.credentials.workspace_key,
      ...headers,
    },
    body: JSON.stringify({
      model: '@demo/gpt-4o-mini',
      messages: [{ role: 'user', content: 'What is the weather like in the mountains today?' }],
      ...body,
    }),
  });
}

/** Runs a script in the image, confined as the gateway is. */
function inImage(script: string): string {
  const command = ['/usr/local/bin/node', '-e', script];
  return execFileSync(bwrap, confined(image, { data, command }), {
    encoding: 'utf8',
    timeout: waitMs,
  }).trim();
}

it('answers a chat and a stream, with its threads, and drains', async () => {
  const answer = await ask({});
  expect(answer.status).toBe(200);
  expect(((await answer.json()) as { choices: unknown[] }).choices).toHaveLength(1);
  const stream = await (await ask({ stream: true })).text();
  expect(stream).toMatch(/data: \[DONE\]\n\n$/);
  // The thread that knows languages.
  const config = { input_guardrails: [{ 'default.languages': { allowed: ['de'] }, deny: true }] };
  // Which takes longer to start, on a busy machine, than a check may take.
  await eventually(async () => {
    const denied = await ask({}, { 'x-service-config': JSON.stringify(config) });
    expect(denied.status).toBe(446);
  });
  // The thread that writes to the log store.
  await eventually(() => expect(readdirSync(join(data, 'logs'))).not.toHaveLength(0));
  const ended = new Promise((resolve) => gateway.once('exit', resolve));
  process.kill(confinedPid(gateway.pid as number), 'SIGTERM');
  expect(await ended).toBe(0);
  expect(log).not.toMatch(/"level":"(error|fatal)"/);
});

it('holds nothing that a stranger in it could use', () => {
  const found = JSON.parse(
    inImage(`
      const fs = require('node:fs');
      const say = (act) => { try { act(); return 'done'; } catch (error) { return error.code; } };
      const files = fs.readdirSync('/')
        .filter((name) => !['proc', 'dev', 'sys'].includes(name))
        .flatMap((name) => fs.readdirSync('/' + name, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => entry.parentPath + '/' + entry.name);
      const withMode = (bits) => files.filter((path) => (fs.statSync(path).mode & bits) !== 0);
      const programs = withMode(0o111).filter((path) => !/\\.so(\\.|$)/.test(path));
      const odd = withMode(0o6000);
      console.log(JSON.stringify({
        user: [process.getuid(), process.getgid()],
        root: say(() => fs.writeFileSync('/app/main.mjs', '')),
        tmp: say(() => fs.writeFileSync('/tmp/file', '')),
        programs, odd,
        libraries: files.filter((path) => /\\.so(\\.|$)/.test(path) && fs.statSync(path).size > 20_000)
          .map((path) => /([a-z+_-]+?)(-x86-64|-aarch64)?\\.so/i.exec(path)[1]).sort(),
        leaps: files.filter((path) => path.includes('/zoneinfo/right/')).length,
        app: fs.readdirSync('/app').filter((name) => /chdb|postgres|vitest/.test(name)),
        zone: new Date(0).toLocaleString('en', { timeZone: 'Asia/Tokyo' }),
        authorities: fs.readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8').split('BEGIN').length > 100,
      }));
    `),
  );
  expect(found).toEqual({
    user: [12345, 0],
    root: 'EROFS',
    tmp: 'done',
    programs: ['/usr/local/bin/node'],
    odd: [],
    // What node is linked with, and what looks names up. Smaller ones are empty by now, for old programs.
    libraries: ['ld-linux', 'libc', 'libgcc_s', 'libm', 'libresolv', 'libstdc++'],
    leaps: 0,
    app: [],
    zone: '1/1/1970, 9:00:00 AM',
    authorities: true,
  });
});

it('is listed in its SBOMs as a scanner finds it', () => {
  const read = (name: string) => JSON.parse(readFileSync(join(out, name), 'utf8'));
  const cyclonedx = read(`gateway-${architecture}.cdx.json`);
  const spdx = read(`gateway-${architecture}.spdx.json`);
  const names = (of: { name: string; version?: string; versionInfo?: string }[]) =>
    of.map(({ name, version, versionInfo }) => `${name} ${version ?? versionInfo}`).sort();
  const debian = readdirSync(join(image.rootfs, 'var/lib/dpkg/status.d'))
    .filter((name) => !name.endsWith('.md5sums'))
    .map((name) => readFileSync(join(image.rootfs, 'var/lib/dpkg/status.d', name), 'utf8'))
    .map((text) => `${/^Package: (.+)$/m.exec(text)?.[1]} ${/^Version: (.+)$/m.exec(text)?.[1]}`);
  const npm = [
    ...readFileSync(join(image.rootfs, 'app/LICENCES.txt'), 'utf8').matchAll(/={80}\n(\S+ \S+)\n/g),
  ].map(([, name]) => name);
  expect(npm.length).toBeGreaterThan(20);
  const node = `node ${inImage('console.log(process.versions.node)')}`;
  expect(names(cyclonedx.components)).toEqual([...debian, node, ...npm].sort());
  expect(names(spdx.packages.slice(1))).toEqual(names(cyclonedx.components));
});
