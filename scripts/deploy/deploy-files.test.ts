import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { settings as controlPlane } from '@sluice/control-plane/settings';
import { settings as dataService } from '@sluice/data-service/settings';
import { settings as gateway } from '@sluice/gateway/settings';
import { serviceProcesses } from '@sluice/stack';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

/** deploy/compose.yaml and deploy/systemd say no setting that a service does not know. */
const deploy = resolve(import.meta.dirname, '../../deploy');
const read = (path: string) => readFileSync(join(deploy, path), 'utf8');

const known: Record<string, Set<string>> = {
  gateway: namesOf(gateway),
  'control-plane': namesOf(controlPlane),
  'data-service': namesOf(dataService),
  migrations: new Set([
    'DATABASE_URL',
    'CLICKHOUSE_URL',
    'NATS_URL',
    'CLICKHOUSE_REPLICATION_ENABLED',
    'CLICKHOUSE_CLUSTER_NAME',
    'NODE_ENV',
  ]),
};
/** Read by Node and by the C library. */
const ofTheProcess = new Set([
  'MALLOC_ARENA_MAX',
  'MALLOC_TRIM_THRESHOLD_',
  'MALLOC_MMAP_THRESHOLD_',
]);

function namesOf({ described }: { described: readonly { name: string }[] }): Set<string> {
  return new Set(described.map(({ name }) => name));
}

/** The lines of each service of compose.yaml. */
function composeServices(): Map<string, string> {
  const [, services = ''] = /^services:\n([\s\S]*?)^networks:/m.exec(read('compose.yaml')) ?? [];
  const blocks = services.split(/^ {2}(?=[a-z-]+:$)/m).filter((block) => /^[a-z-]+:\n/.test(block));
  return new Map(blocks.map((block) => [block.slice(0, block.indexOf(':')), block]));
}

const settingLines = (text: string) =>
  [...text.matchAll(/^ +([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name);

describe('compose.yaml', () => {
  const services = composeServices();
  const common = settingLines(
    /^x-settings:[\s\S]*?^services:/m.exec(read('compose.yaml'))?.[0] ?? '',
  );

  it('names no setting that its service does not have', () => {
    expect([...services.keys()]).toEqual(
      expect.arrayContaining([
        'gateway',
        'control-plane',
        'data-service',
        'migrations',
        'first-keys',
      ]),
    );
    for (const [service, names] of Object.entries(known)) {
      const block = services.get(service) ?? '';
      const all = [...settingLines(block), ...(block.includes('*settings') ? common : [])];
      expect(all.length).toBeGreaterThan(0);
      expect(
        all.filter((name) => !names.has(name)),
        service,
      ).toEqual([]);
    }
  });

  it('opens the port of gRPC where compose.grpc.yaml is named, too', () => {
    const text = read('compose.grpc.yaml');
    const { services: more } = parse(text) as { services: Record<string, { ports: string[] }> };
    expect(Object.keys(more)).toEqual(['gateway']);
    expect(settingLines(text).filter((name) => !known.gateway?.has(name))).toEqual([]);
    const [, inside] = /8789\}:(\d+)$/.exec(more.gateway?.ports[0] ?? '') ?? [];
    expect(text).toContain(`GRPC_PORT: "${inside}"`);
  });

  it('mounts each secret that is named, and its script makes each', () => {
    const script = read('compose-secrets.sh');
    for (const [service, block] of services) {
      const mounted =
        /^ {4}secrets:(?:\s+&\S+)?\s*\[([^\]]*)\]/m.exec(block)?.[1]?.split(/, */) ?? [];
      const named = [...block.matchAll(/\/run\/secrets\/([a-z_]+)/g)].map(([, name = '']) => name);
      if (service === 'first-keys') continue;
      const shared = block.includes('*settings') ? ['service_client_auth'] : [];
      expect(new Set(mounted), service).toEqual(new Set([...named, ...shared]));
    }
    for (const [, name = ''] of read('compose.yaml').matchAll(/\.\/secrets\/([a-z_]+)/g))
      expect(script, name).toMatch(new RegExp(`\\b${name}\\b`));
  });

  it('lets stores and data service no way out, and opens one port', () => {
    for (const name of ['postgres', 'clickhouse', 'nats', 'redis', 'data-service', 'migrations'])
      expect(services.get(name), name).not.toContain('outside');
    const opened = [...services].filter(([, block]) => /^ {4}ports:/m.test(block));
    expect(opened.map(([name]) => name)).toEqual(['gateway']);
    expect(read('compose.yaml')).toContain('inside: { internal: true }');
  });
});

describe('compose-secrets.sh', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'secrets-'));
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it('makes secrets once, in a folder for its owner alone', () => {
    const target = join(dir, 'secrets');
    const make = () => execFileSync('sh', [join(deploy, 'compose-secrets.sh'), target]);
    make();
    expect(statSync(target).mode & 0o777).toBe(0o700);
    const contents = () =>
      Object.fromEntries(
        readdirSync(target).map((name) => [name, readFileSync(join(target, name), 'utf8')]),
      );
    const first = contents();
    expect(first.master_key).toMatch(/^[0-9a-f]{64}\n$/);
    expect(first.database_url).toContain(first.postgres_password?.trim());
    expect(new Set(Object.values(first)).size).toBe(Object.keys(first).length);
    chmodSync(target, 0o755);
    make();
    expect(contents()).toEqual(first);
    expect(statSync(target).mode & 0o777).toBe(0o700);
    rmSync(join(target, 'redis_url'));
    mkdirSync(join(target, 'redis_url'));
    expect(make).toThrow('redis_url is a folder: take it away');
  });
});

describe('compose-secrets.sh where openssl is not', () => {
  it('says so, makes none, and makes them whole the next time', () => {
    const dir = mkdtempSync(join(tmpdir(), 'secrets-'));
    const script = join(deploy, 'compose-secrets.sh');
    const [programs, target] = [join(dir, 'programs'), join(dir, 'secrets')];
    mkdirSync(programs);
    for (const name of ['dirname', 'mkdir', 'chmod', 'cat', 'mv', 'rm', 'cut']) {
      const path = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
      symlinkSync(path, join(programs, name));
    }
    const make = (path: string | undefined) =>
      spawnSync('/bin/sh', [script, target], { encoding: 'utf8', env: { PATH: path } });
    const { status, stderr } = make(programs);
    expect([status, stderr]).toEqual([1, 'openssl is needed\n']);
    // One that ends half way.
    writeFileSync(join(programs, 'openssl'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    expect(make(programs)).toMatchObject({ status: 1 });
    expect(readdirSync(target)).toEqual([]);
    expect(make(process.env.PATH)).toMatchObject({ status: 0 });
    for (const name of readdirSync(target))
      expect(readFileSync(join(target, name), 'utf8'), name).not.toBe('');
    rmSync(dir, { recursive: true });
  });
});

describe('systemd', () => {
  const units = readdirSync(join(deploy, 'systemd')).filter((name) => name.endsWith('.service'));
  const serviceOf = (unit: string) =>
    /\/usr\/lib\/sluice\/([a-z-]+)\/[a-z]+\.mjs/.exec(unit)?.[1] ?? '';

  it.each(units)(
    '%s names settings of its service, and has every secret as a credential',
    (name) => {
      const unit = read(`systemd/${name}`);
      const names = known[serviceOf(unit)] ?? new Set();
      const said = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
        line.split(' ').map((pair) => pair.split('=')),
      );
      expect(said.length).toBeGreaterThan(0);
      for (const [setting = '', value = ''] of said) {
        expect([setting, names.has(setting)]).toEqual([setting, true]);
        const credential = /^%d\/(.*)$/.exec(value)?.[1];
        if (credential === undefined) continue;
        expect(unit).toContain(
          `LoadCredential=${credential}:/etc/sluice/credentials/${credential}\n`,
        );
      }
      for (const line of [
        'NoNewPrivileges=yes',
        'ProtectSystem=strict',
        'CapabilityBoundingSet=\n',
        'DynamicUser=yes',
      ])
        expect(unit).toContain(line);
    },
  );

  it.each(['gateway', 'control-plane', 'data-service', 'migrations'])(
    '%s.env has settings, and no secrets',
    (name) => {
      const lines = read(`systemd/${name}.env`)
        .split('\n')
        .filter((line) => /^[A-Za-z]/.test(line));
      for (const line of lines) {
        const setting = line.slice(0, line.indexOf('='));
        expect([setting, known[name]?.has(setting) === true || ofTheProcess.has(setting)]).toEqual([
          setting,
          true,
        ]);
        expect(setting).not.toMatch(/SECRET|KEY$|TOKEN|AUTH$|PEPPER/);
      }
    },
  );

  it.each(Object.entries(serviceProcesses))('runs the %s as the images do', (name, process) => {
    const unit = read(`systemd/sluice-${name === 'gateway' ? 'gateway@' : name}.service`);
    for (const flag of process.nodeFlags) expect(unit).toContain(` ${flag} `);
    for (const [setting, value] of Object.entries(process.env))
      expect(read(`systemd/${name}.env`)).toContain(`${setting}=${value}\n`);
  });
});
