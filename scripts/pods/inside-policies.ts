/**
 * What `npm run pods -- --policies` does within its own network: each of the chart's pods in a network namespace of its own, behind
 * rules of nft made from the NetworkPolicies, and everybody outside at an address of their own.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { startDemoUpstream } from '@sluice/demo-upstream';
import { type Participant, rulesFor } from '../chart/network-rules.ts';
import { addressOf, outsiderValues } from '../chart/network-table.ts';
import { type KubernetesObject, renderObjects } from '../chart/render.ts';
import { podManifests } from './manifests.ts';
import { loadImages, openPodman, startStores } from './podman.ts';
import { secretValues } from './secret-values.ts';
import { openReport, until, work } from './work.ts';

const [folder = ''] = process.argv.slice(2);
const { report, hasFailed } = openReport();
const { podman, runIn, containers, logs } = openPodman(folder);
const components = ['gateway', 'control-plane', 'data-service', 'migrations'] as const;
type Component = (typeof components)[number];
const addresses = Object.fromEntries(
  components.map((component, at) => [component, `10.42.0.${at + 1}`]),
) as Readonly<Record<Component, string>>;
const gateway = `http://${addresses.gateway}:8787`;

/** Stores by their setting: who it is outside, and at which port the policies let to it. */
const stores = {
  DATABASE_URL: ['Postgres', 5432],
  CLICKHOUSE_URL: ['ClickHouse', 8123],
  NATS_URL: ['NATS', 4222],
  REDIS_URL: ['Redis', 6379],
} as const;

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { encoding: 'utf8' });

/** A bridge here, from which everybody outside speaks, and a namespace for each pod. */
function makeNetwork(): void {
  run('ip', 'link', 'add', 'pods', 'type', 'bridge');
  run('ip', 'link', 'set', 'pods', 'up');
  // Everything is local here but the pods; who speaks to them are the callers.
  const toPods = ['10.42.0.0/24', 'dev', 'pods', 'src', addressOf('callers')];
  run('ip', 'route', 'add', ...toPods, 'table', 'local');
  for (const component of components) {
    const at = components.indexOf(component);
    run('ip', 'netns', 'add', component);
    const peer = ['peer', 'name', 'eth0', 'netns', component];
    run('ip', 'link', 'add', `pod${at}`, 'type', 'veth', ...peer);
    run('ip', 'link', 'set', `pod${at}`, 'master', 'pods', 'up');
    const within = (...args: string[]) => run('ip', '-n', component, ...args);
    within('link', 'set', 'lo', 'up');
    within('link', 'set', 'eth0', 'up');
    within('address', 'add', `${addresses[component]}/32`, 'dev', 'eth0');
    within('route', 'add', 'default', 'dev', 'eth0');
  }
}

/** Has a port of somebody outside lead to one of loopback. */
async function expose(name: string, port: number, to: number): Promise<void> {
  const server = createServer((socket) => {
    const onward = connect(to, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward])
      end.on('error', () => {
        socket.destroy();
        onward.destroy();
      });
  });
  server.listen(port, addressOf(name));
  await once(server, 'listening');
}

function enforce(objects: readonly KubernetesObject[]): void {
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  const pods = components.map((component): Participant => {
    const pod = policies.find(({ metadata }) => metadata.name === `sluice-${component}`);
    const labels = pod?.spec.podSelector.matchLabels;
    return { name: component, address: addresses[component], namespace: 'ai', labels };
  });
  for (const pod of pods)
    execFileSync('ip', ['netns', 'exec', pod.name, 'nft', '-f', '-'], {
      input: rulesFor(pod, pods, policies),
    });
}

/** Whether a socket opened in that namespace, or here, gets to the port. */
function reaches(from: Component | undefined, address: string, port: number): boolean {
  const script = `require('node:net').connect(${port}, '${address}')
    .on('connect', () => process.exit(0)).on('error', () => process.exit(1));
    setTimeout(() => process.exit(1), 1500)`;
  const program = [process.execPath, '-e', script] as const;
  const [command, ...args] =
    from === undefined ? program : (['ip', 'netns', 'exec', from, ...program] as const);
  return spawnSync(command, args).status === 0;
}

/** Plays each pod in its own namespace, with the objects that it reads. */
async function play(manifests: string): Promise<void> {
  const objects = manifests
    .split('---\n')
    .filter(Boolean)
    .map((text) => JSON.parse(text) as KubernetesObject);
  const pods = objects.filter(({ kind }) => kind === 'Pod' || kind === 'Deployment');
  for (const pod of pods) {
    const component = pod.metadata.name.replace('sluice-', '') as Component;
    const beside = objects.filter(
      (each) =>
        !pods.includes(each) && (each.kind !== 'PersistentVolumeClaim' || component === 'gateway'),
    );
    const file = join(folder, `${component}.yaml`);
    const text = [...beside, pod].map((each) => `---\n${JSON.stringify(each)}\n`).join('');
    writeFileSync(file, text, { mode: 0o600 });
    // Podman 4.3 gives a pod no namespace that is there already, but takes the one it is in for the host's.
    await runIn(component, 'kube', 'play', '--network', 'host', file);
  }
}

async function main(): Promise<void> {
  makeNetwork();
  const names = (['gateway', 'control-plane', 'data-service'] as const).map(
    (component) => `${addresses[component]} sluice-${component}.ai.svc\n`,
  );
  appendFileSync('/etc/hosts', names.join(''));
  const [{ child, settings }, upstream] = await Promise.all([
    startStores(),
    startDemoUpstream({ host: '127.0.0.1', port: 8799 }),
  ]);
  const own: Record<string, string> = { ...settings };
  for (const [setting, [name, port]] of Object.entries(stores)) {
    const url = new URL(settings[setting] ?? '');
    await expose(name, port, Number(url.port));
    own[setting] = (settings[setting] ?? '').replace(url.host, `${addressOf(name)}:${port}`);
  }
  await expose('providers', 443, upstream.port);

  const one = { replicas: 1 };
  const drain = { shutdownDelaySeconds: 1, drainSeconds: 10 };
  const objects = renderObjects({
    values: {
      ...outsiderValues,
      secrets: { existingSecret: 'stores', generate: true },
      settings: { TRUSTED_CUSTOM_HOSTS: [addressOf('providers')] },
      // There are no Services: under their names are the pods themselves.
      gateway: { ...one, drain, service: { port: 8787 } },
      controlPlane: one,
      dataService: one,
    },
  });
  const secrets = await secretValues(objects, own);
  const manifests = podManifests(objects, secrets);
  report(`${loadImages(podman)} images are loaded`);
  enforce(objects);
  await play(manifests.migrations);
  await until('migrations', async () =>
    containers().some(
      ({ Name, State }) => Name.endsWith('-first-keys') && State.Status === 'exited',
    )
      ? true
      : undefined,
  );
  report(
    'migrations and first keys, behind their policy',
    containers()
      .filter(({ State }) => State.ExitCode !== 0)
      .map(({ Name }) => logs(Name)),
  );
  if (hasFailed()) return;
  await play(manifests.services);
  await until('readiness', async () => {
    const response = await fetch(`${gateway}/health/ready`, { signal: AbortSignal.timeout(2000) });
    return response.ok && (await response.text()).includes('connected') ? true : undefined;
  });
  report('the three services are ready, each behind its policy');
  const keys = secrets.get('sluice-first-keys') ?? {};
  await work({
    ...{ gateway, report, adminKey: keys.ADMIN_KEY ?? '', workspaceKey: keys.WORKSPACE_KEY ?? '' },
    upstreamUrl: `http://${addressOf('providers')}:443/v1`,
  });
  refusedPairs();

  podman('stop', '--all', '--time', '60');
  child.stdin?.end();
  await Promise.all([once(child, 'exit'), upstream.close()]);
}

/** What somebody who got into one of them would try first; `npm run chart` tries every pair. */
function refusedPairs(): void {
  const outside = (setting: keyof typeof stores) => {
    const [name, port] = stores[setting];
    return [addressOf(name), port] as const;
  };
  const tries: readonly [Component | undefined, string, number, string][] = [
    ['gateway', ...outside('DATABASE_URL'), 'gateway to Postgres'],
    ['gateway', ...outside('CLICKHOUSE_URL'), 'gateway to ClickHouse'],
    ['control-plane', ...outside('CLICKHOUSE_URL'), 'control plane to ClickHouse'],
    ['control-plane', ...outside('REDIS_URL'), 'control plane to Redis'],
    ['data-service', ...outside('DATABASE_URL'), 'data service to Postgres'],
    ['data-service', addressOf('providers'), 443, 'data service to providers'],
    ['data-service', addresses['control-plane'], 8788, 'data service to the admin API'],
    [undefined, addresses['control-plane'], 8788, 'callers to the admin API'],
    [undefined, addresses['data-service'], 8791, 'callers to the data service'],
    [undefined, addresses.gateway, 9464, 'callers to metrics of the gateway'],
  ];
  const through = tries.filter(([from, address, port]) => reaches(from, address, port));
  const isAllowed = reaches('gateway', addresses['control-plane'], 8790);
  report(`${tries.length} connections that no policy draws are refused`, [
    ...through.map(([, , , what]) => `${what}: let through`),
    ...(isAllowed ? [] : ['gateway to control plane: refused']),
  ]);
  for (const component of components)
    run('ip', 'netns', 'exec', component, 'nft', 'flush', 'ruleset');
  const stillRefused = tries.filter(([from, address, port]) => !reaches(from, address, port));
  report(
    'without the rules all of them connect',
    stillRefused.map(([, , , what]) => `${what}: refused`),
  );
}

try {
  await main();
} catch (error) {
  report('an error', [error instanceof Error ? `${error.stack}\n${error.cause ?? ''}` : error]);
  for (const { Name } of containers())
    process.stdout.write(`${Name}:\n${logs(Name).split('\n').slice(-6).join('\n')}\n`);
}
process.exit(hasFailed() ? 1 : 0);
