/**
 * `npm run upgrade:rehearse [-- --before COMMIT] [--seconds 8] [--images [--nats]]`: upgrades an installation of an earlier commit to this
 * checkout and rolls it back, in the order of docs/deploy/upgrade.md, under 100 requests a second of which a fifth are streams; tries
 * the wrong order on the way. `--images`: both generations in images of `npm run images`, under Podman, before stores of
 * their own. Ends with 1 when a request failed, or the ledger lacks or doubles one. Takes some minutes; needs git and Linux.
 */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
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
import { build, buildables, buildService } from './build.ts';
import { readInputs } from './images/inputs.ts';
import { makeImages } from './images/make-images.ts';
import { ownArchitecture } from './images/platforms.ts';
import { readRelease } from './images/release.ts';
import { inOwnNetwork, requirePodman } from './pods/own-network.ts';
import { checkOut } from './rehearsal/before.ts';
import { type Generation, type Installation, rehearse } from './rehearsal/order.ts';

const { values: flags } = parseArgs({
  options: {
    before: { type: 'string', default: 'b41b1b83' },
    seconds: { type: 'string', default: '8' },
    images: { type: 'boolean', default: false },
    nats: { type: 'boolean', default: false },
  },
});
const stageMs = Number(flags.seconds) * 1000;
const root = resolve(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'sluice-rehearsal-'));
const checkout = join(work, 'before');
const services: readonly ServiceName[] = ['gateway', 'control-plane', 'data-service'];
const say = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<number> {
  if (flags.images) requirePodman();
  checkOut(flags.before, checkout);
  say(`building ${flags.before} and this checkout`);
  return flags.images ? inContainers() : asProcesses();
}

/** Makes the images of both generations and does the rest within a network of their own. */
async function inContainers(): Promise<number> {
  const architecture = ownArchitecture();
  if (architecture === undefined) throw new Error('No images are made for this machine.');
  for (const [generation, source] of [
    ['before', checkout],
    ['after', root],
  ] as const) {
    const out = join(work, 'images', generation);
    mkdirSync(out, { recursive: true });
    await makeImages({
      inputs: readInputs(),
      // By their tag two of one version are apart.
      release: { ...readRelease(source), version: generation },
      ...{ source, out, say, services: buildables, architectures: [architecture] },
      built: (service) => build(service, join(work, 'built', generation, service), [], source),
    });
  }
  const ended = await inOwnNetwork({
    program: join(root, 'scripts/rehearsal/containers.ts'),
    args: [join(work, 'images'), String(stageMs), ...(flags.nats ? ['nats'] : [])],
    timeoutMs: 540_000,
  });
  return ended ? 0 : 1;
}

async function asProcesses(): Promise<number> {
  const before = buildBefore();
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
  let faults: string[];
  try {
    const started = await start(postgresUrl(settings), { before, after });
    sluice = started.sluice;
    faults = await rehearse(started.installation, stageMs, say);
  } finally {
    await sluice?.stop();
    await postgres.stop();
  }
  for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
  say(faults.length === 0 ? 'ok' : `${faults.length} faults`);
  return faults.length === 0 ? 0 : 1;
}

function buildBefore(): Record<ServiceName, string> {
  execFileSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(checkout, 'scripts/build.ts')],
    { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  return Object.fromEntries(
    services.map((name) => [name, join(checkout, 'dist', name, 'main.mjs')]),
  ) as Record<ServiceName, string>;
}

async function start(
  databaseUrl: string,
  built: Record<Generation, Record<ServiceName, string>>,
): Promise<{ sluice: Sluice; installation: Installation }> {
  const { before } = built;
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
  const installation: Installation = {
    keys: [created.workspace_key],
    provider: created.demo_provider,
    gatewayPorts: [ports.gateway, second],
    metricsPort: metrics,
    ledger: {
      port: ports.dataServiceGrpc,
      token: secrets.service_token,
      organisationId: created.organisation_id,
    },
    isGreeted: true,
    async replace(name, generation) {
      const part = sluice.parts.get(name);
      if (part === undefined) throw new Error(`there is no ${name}`);
      files[name] = built[generation][name.replace(/-2$/, '') as ServiceName];
      await part.stop();
      await part.start();
    },
    async migrate() {
      await promisify(execFile)(process.execPath, [join(root, 'scripts/migrate.ts')], {
        env: { ...baseEnvironment(), DATABASE_URL: databaseUrl },
      });
    },
  };
  return { sluice, installation };
}

process.exitCode = await main().finally(() => {
  rmSync(work, { recursive: true, force: true });
  execFileSync('git', ['worktree', 'prune'], { cwd: root });
});
