/**
 * `npm run upgrade:rehearse [-- --before COMMIT] [--seconds 8]`: upgrades an installation of an earlier commit to this checkout and rolls
 * it back, in the order of docs/deploy/upgrade.md, under 100 requests a second of which a fifth are streams; tries the wrong order on the way.
 * Ends with 1 when a request failed, or the ledger lacks or doubles one. Takes some minutes; needs git and Linux.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  baseEnvironment,
  createSecrets,
  freePort,
  freePorts,
  type PartName,
  postgresSpec,
  postgresUrl,
  type ServiceName,
  type Sluice,
  serviceEnvironments,
  startProcess,
  startSluice,
  throwawayPostgres,
} from '@sluice/stack';
import { buildService } from './build.ts';
import { compareWithLedger, Traffic } from './rehearsal/traffic.ts';

const { values: flags } = parseArgs({
  options: {
    before: { type: 'string', default: 'b41b1b83' },
    seconds: { type: 'string', default: '8' },
  },
});
const stageMs = Number(flags.seconds) * 1000;
const root = resolve(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'sluice-rehearsal-'));
const services: readonly ServiceName[] = ['gateway', 'control-plane', 'data-service'];
const faults: string[] = [];
const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  const checkout = checkOut(flags.before);
  say(`building ${flags.before} and this checkout`);
  const before = buildBefore(checkout);
  const after = Object.fromEntries(
    await Promise.all(
      services.map(async (name) => [name, await buildService(name, join(work, 'after', name))]),
    ),
  ) as Record<ServiceName, string>;

  // Postgres may run as another user, who must be able to pass.
  chmodSync(work, 0o711);
  mkdirSync(join(work, 'postgres'));
  const settings = await throwawayPostgres(join(work, 'postgres'));
  const postgres = await startProcess(postgresSpec(settings));
  let sluice: Sluice | undefined;
  try {
    const rehearsal = await start(postgresUrl(settings), checkout, before);
    sluice = rehearsal.sluice;
    await rehearse({ ...rehearsal, before, after, databaseUrl: postgresUrl(settings) });
  } finally {
    await sluice?.stop();
    await postgres.stop();
  }
  for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
  say(faults.length === 0 ? 'ok' : `${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
}

/** The earlier commit, with what this checkout has installed; links between packages lead into it. */
function checkOut(commit: string): string {
  const path = join(work, 'before');
  execFileSync('git', ['worktree', 'add', '--detach', '--force', path, commit], {
    cwd: root,
    stdio: 'ignore',
  });
  symlinkSync(join(root, 'node_modules'), join(path, 'node_modules'));
  for (const parent of ['packages', 'services', '.'])
    for (const name of parent === '.' ? ['scripts'] : readdirSync(join(path, parent))) {
      const installed = join(root, parent, name, 'node_modules');
      if (existsSync(installed))
        cpSync(installed, join(path, parent, name, 'node_modules'), {
          recursive: true,
          verbatimSymlinks: true,
        });
    }
  return path;
}

function buildBefore(checkout: string): Record<ServiceName, string> {
  const run = (cwd: string, ...args: string[]) =>
    execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      cwd,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  run(join(checkout, 'services/control-plane'), 'prisma/generate.ts');
  run(checkout, 'scripts/build.ts');
  return Object.fromEntries(
    services.map((name) => [name, join(checkout, 'dist', name, 'main.mjs')]),
  ) as Record<ServiceName, string>;
}

async function start(databaseUrl: string, checkout: string, before: Record<ServiceName, string>) {
  const ports = await freePorts();
  const [second, metrics] = [await freePort(), await freePort()];
  const secrets = createSecrets();
  const dataDir = join(work, 'data');
  const input = { dataDir, ports, secrets, databaseUrl };
  // As that release sets itself up.
  const stack = (await import(join(checkout, 'packages/stack/src/index.ts'))) as {
    createInstallation(
      env: Record<string, string | undefined>,
    ): Promise<Parameters<typeof startSluice>[0]['credentials']>;
  };
  const created = await stack.createInstallation({
    ...baseEnvironment(),
    ...serviceEnvironments(input).controlPlane,
  });
  if (created === undefined) throw new Error('the database was not empty');
  const files: Partial<Record<PartName, string>> = { ...before, 'gateway-2': before.gateway };
  for (const name of ['gateway', 'gateway-2', 'clickhouse', 'logs'])
    mkdirSync(join(dataDir, name), { recursive: true });
  const sluice = await startSluice({
    ...input,
    credentials: { ...created, base_url: `http://127.0.0.1:${ports.gateway}/v1` },
    isMigrated: true,
    restart: false,
    moreGatewayPorts: [second],
    builtParts: files,
    environment: { LOG_STORE: '', DRAIN_TIMEOUT: '10000' },
    partEnvironment: { 'gateway-2': { METRICS_PORT: String(metrics) } },
  });
  return { sluice, files, ports, secrets, metrics, gatewayPorts: [ports.gateway, second] };
}

type Rehearsal = Awaited<ReturnType<typeof start>> & {
  before: Record<ServiceName, string>;
  after: Record<ServiceName, string>;
  databaseUrl: string;
};

async function rehearse(on: Rehearsal): Promise<void> {
  const { workspace_key, demo_provider } = on.sluice.credentials;
  const traffic = new Traffic({
    gatewayPorts: on.gatewayPorts,
    keys: [workspace_key],
    provider: demo_provider,
    everyMs: 10,
  });
  const startedAtMs = Date.now() - 1000;
  const gateways = ['gateway', 'gateway-2'] as const;
  const roll = async (name: PartName, file: string) => {
    const gateway = gateways.indexOf(name as never);
    const part = on.sluice.parts.get(name);
    if (part === undefined) throw new Error(`there is no ${name}`);
    on.files[name] = file;
    if (gateway >= 0) traffic.up.delete(gateway);
    await delay(gateway >= 0 ? 200 : 0);
    await part.stop();
    await part.start();
    if (gateway >= 0) traffic.up.add(gateway);
    say(`  ${name} is replaced; ${traffic.counts()}`);
    await delay(stageMs / 4);
  };
  const running = traffic.run();
  await delay(stageMs);

  say('migrations first; what runs goes on');
  execFileSync(process.execPath, [join(root, 'scripts/migrate.ts')], {
    env: { ...baseEnvironment(), DATABASE_URL: on.databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await delay(stageMs / 2);

  say('the wrong order: a gateway before its data service');
  await roll('gateway-2', on.after.gateway);
  await expectMetric(on.metrics, 'sluice_outbox_refused', 1);
  await delay(stageMs / 2);
  await roll('gateway-2', on.before.gateway);

  say('upgrade');
  await roll('control-plane', on.after['control-plane']);
  await roll('data-service', on.after['data-service']);
  for (const name of gateways) await roll(name, on.after.gateway);
  await expectMetric(on.metrics, 'sluice_outbox_refused', 0);
  await delay(stageMs);

  say('roll-back');
  for (const name of gateways.toReversed()) await roll(name, on.before.gateway);
  await roll('data-service', on.before['data-service']);
  await roll('control-plane', on.before['control-plane']);
  await delay(stageMs);
  traffic.stop();
  await running;
  say(`traffic: ${traffic.counts()}`);
  faults.push(...traffic.faults);
  await compare(on, traffic.names, startedAtMs);
}

async function expectMetric(port: number, name: string, value: number): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    const found = Number(new RegExp(`^${name}\\{.*\\} (.+)$`, 'm').exec(text)?.[1]);
    if (found === value) {
      say(`  ${name} is ${value}`);
      return;
    }
    await delay(250);
  }
  faults.push(`${name} is not ${value}`);
}

/** Waits until the ledger has all, and looks for what it has twice. */
async function compare(
  { ports, secrets, sluice }: Rehearsal,
  names: ReadonlySet<string>,
  fromMs: number,
): Promise<void> {
  const { missing, doubled } = await compareWithLedger(names, {
    port: ports.dataServiceGrpc,
    token: secrets.service_token,
    organisationId: sluice.credentials.organisation_id,
    fromMs,
    tries: 60,
  });
  say(`ledger: ${names.size - missing} of ${names.size}, missing ${missing}, twice ${doubled}`);
  if (missing > 0) faults.push(`${missing} requests are not in the ledger`);
  if (doubled > 0) faults.push(`${doubled} requests are in the ledger twice`);
}

process.exitCode = await main().finally(() => {
  execFileSync('git', ['worktree', 'prune'], { cwd: root });
  rmSync(work, { recursive: true, force: true });
});
