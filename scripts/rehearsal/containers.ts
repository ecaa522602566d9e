/**
 * What `npm run upgrade:rehearse -- --images` does within its own network: `containers.ts FOLDER IMAGES STAGE_MS [nats]`, where
 * IMAGES has `before` and `after`, each as `npm run images` writes them.
 */
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDemoUpstream } from '@sluice/demo-upstream';
import {
  createSecrets,
  freePort,
  freePorts,
  type PartName,
  type SluiceCredentials,
  serviceEnvironments,
} from '@sluice/stack';
import { serviceUser } from '../images/base-files.ts';
import { nodePath } from '../images/image-config.ts';
import type { ImageList } from '../images/make-images.ts';
import { allowedTooMuch, openPodman, startStores } from '../pods/podman.ts';
import { type Generation, rehearse } from './order.ts';

const [folder = '', images = '', stageMs, ...more] = process.argv.slice(2);
const usesNats = more.includes('nats');
const { podman, run, containers, logs } = openPodman(folder);
const say = (line: string) => process.stdout.write(`${line}\n`);
type Environment = Record<string, string | undefined>;

for (const generation of ['before', 'after'])
  for (const { service, tag } of imageList(generation).images) {
    podman('load', '--quiet', '--input', join(images, generation, `${service}.oci.tar`));
    // Two of one version are apart by it.
    if (tag !== generation) throw new Error(`${service} of ${generation} has the tag ${tag}`);
  }
const stores = await startStores();
const { DATABASE_URL = '', CLICKHOUSE_URL, REDIS_URL, NATS_URL } = stores.settings;
const [ports, second, metrics] = [await freePorts(), await freePort(), await freePort()];
const upstream = await startDemoUpstream({ host: '127.0.0.1', port: ports.demoUpstream });
const secrets = createSecrets();
const environments = serviceEnvironments({
  ...{ dataDir: '/data', ports, secrets, databaseUrl: DATABASE_URL },
  ...{ clickhouseUrl: CLICKHOUSE_URL, redisUrl: REDIS_URL },
  natsUrl: usesNats ? NATS_URL : undefined,
  moreGatewayPorts: [second],
  environment: { LOG_STORE: '' },
});
const common = {
  TRUSTED_CUSTOM_HOSTS: '127.0.0.1',
  DRAIN_TIMEOUT: '10000',
  LOG_REQUESTS: 'false',
};
const gatewayData = { DATA_DIR: '/data' };
const partEnvironments: Partial<Record<PartName, Environment>> = {
  'control-plane': environments.controlPlane,
  'data-service': environments.dataService,
  gateway: { ...environments.gateway(0, ports.gateway), ...gatewayData },
  'gateway-2': {
    ...environments.gateway(1, second),
    ...gatewayData,
    METRICS_PORT: String(metrics),
  },
};

function imageList(generation: string): ImageList {
  return JSON.parse(readFileSync(join(images, generation, 'images.json'), 'utf8')) as ImageList;
}

/** The arguments of `podman run`: as the chart's pods are confined. */
function confined(name: string, env: Environment, image: string): string[] {
  const file = join(folder, `${name}.env`);
  const lines = Object.entries(env).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}=${value}\n`],
  );
  writeFileSync(file, lines.join(''), { mode: 0o600 });
  return [
    ...['--name', name, '--network', 'host', '--pull', 'never', '--env-file', file],
    ...['--read-only', '--read-only-tmpfs=false', '--tmpfs', '/tmp', '--cap-drop', 'ALL'],
    ...['--security-opt', 'no-new-privileges', '--memory', '1g', '--pids-limit', '256'],
    image,
  ];
}

/** Runs a command of an image to its end and resolves with what it printed. */
async function runOnce(name: string, env: Environment, image: string, command?: string) {
  const entry = command === undefined ? [] : ['--entrypoint', JSON.stringify([nodePath, command])];
  return (await run('run', '--rm', ...entry, ...confined(name, env, image))).stdout.trim();
}
const imageOf = (name: string, generation: Generation) => `docker.io/sluice/${name}:${generation}`;

async function start(name: PartName, generation: Generation): Promise<void> {
  const service = name.replace(/^(gateway)-\d$/, '$1');
  const data = join(folder, 'data', name);
  const volume = service === 'gateway' ? ['--volume', `${data}:/data`] : [];
  const env = { ...common, ...partEnvironments[name] };
  await run('run', '--detach', ...volume, ...confined(name, env, imageOf(service, generation)));
}

async function ready(name: string): Promise<void> {
  for (const end = Date.now() + 60_000; ; await delay(250)) {
    const said = (await run('logs', name)).stderr;
    if (said.includes('"msg":"ready"')) return;
    if (Date.now() > end) throw new Error(`${name} is not ready:\n${said.slice(-2000)}`);
  }
}

/** A control plane of this checkout beside the one that serves: it has to wait, and to say what for. */
async function tryTooEarly(): Promise<readonly string[]> {
  const [PORT, GRPC_PORT] = [await freePort(), await freePort()];
  const env = { ...common, ...environments.controlPlane, METRICS_PORT: '0' };
  const own = { PORT: String(PORT), GRPC_PORT: String(GRPC_PORT) };
  const image = imageOf('control-plane', 'after');
  await run('run', '--detach', ...confined('too-early', { ...env, ...own }, image));
  let told = '';
  for (let tries = 0; tries < 80 && !told.includes('migrat'); tries += 1) {
    await delay(250);
    try {
      const response = await fetch(`http://127.0.0.1:${PORT}/health/ready`);
      told = `${response.status} ${await response.text()}`;
    } catch {
      // It does not listen yet.
    }
  }
  await run('rm', '--force', '--time', '10', 'too-early');
  say(`  control-plane: ${told}`);
  return /^503 .*migrat/.test(told) ? [] : [`a control plane before its migrations: ${told}`];
}

async function main(): Promise<string[]> {
  const all = { DATABASE_URL, CLICKHOUSE_URL, NATS_URL };
  const migrate = (generation: Generation) =>
    runOnce('migrations', all, imageOf('migrations', generation));
  say(await migrate('before'));
  const printed = await runOnce(
    ...(['first-keys', { ...common, ...environments.controlPlane }] as const),
    ...([imageOf('control-plane', 'before'), '/app/bootstrap.mjs'] as const),
  );
  const created = JSON.parse(printed.split('\n').at(-1) ?? '') as SluiceCredentials;
  const parts = Object.keys(partEnvironments) as PartName[];
  for (const name of parts) {
    const data = join(folder, 'data', name);
    mkdirSync(data, { recursive: true });
    chownSync(data, serviceUser.uid, serviceUser.gid);
    await start(name, 'before');
  }
  for (const name of parts) await ready(name);
  const faults = allowedTooMuch(containers());
  const rehearsed = await rehearse(
    {
      keys: [created.workspace_key],
      provider: `@${created.demo_provider.replace(/^@/, '')}`,
      gatewayPorts: [ports.gateway, second],
      metricsPort: metrics,
      ledger: {
        port: ports.dataServiceGrpc,
        token: secrets.service_token,
        organisationId: created.organisation_id,
      },
      isGreeted: !usesNats,
      async replace(name, generation) {
        await run('stop', '--time', '40', name);
        const { stdout } = await run('inspect', '--format', '{{.State.ExitCode}}', name);
        if (stdout.trim() !== '0') faults.push(`${name} ended with ${stdout.trim()}`);
        await run('rm', name);
        await start(name, generation);
        await ready(name);
      },
      async migrate() {
        say((await migrate('after')).replace(/^/gm, '  '));
      },
      tryTooEarly,
    },
    Number(stageMs),
    say,
  );
  faults.push(...rehearsed, ...allowedTooMuch(containers()));
  await run('stop', '--time', '40', ...parts);
  return faults;
}

let faults: string[];
try {
  faults = await main();
} catch (error) {
  faults = [(error as Error).stack ?? ''];
  for (const { Name } of containers())
    say(`${Name}:\n${logs(Name).split('\n').slice(-6).join('\n')}`);
}
for (const fault of faults.slice(0, 20)) say(`FAULT ${fault}`);
say(faults.length === 0 ? 'ok' : `${faults.length} faults`);
stores.child.stdin?.end();
await Promise.all([once(stores.child, 'exit'), upstream.close()]);
process.exit(faults.length === 0 ? 0 : 1);
