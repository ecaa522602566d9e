/** What `npm run pods` does within its own network: `inside.ts FOLDER [BUNDLE PUBLIC_KEY]`. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDemoUpstream } from '@sluice/demo-upstream';
import { renderObjects } from '../chart/render.ts';
import { askedName, attemptRules, nameServer, readAttempts } from './attempts.ts';
import { installBundle } from './bundle.ts';
import { podManifests } from './manifests.ts';
import { outOfMemory } from './out-of-memory.ts';
import { allowedTooMuch, loadImages, openPodman, startStores } from './podman.ts';
import { secretValues } from './secret-values.ts';
import { callerOf, openReport, until, work } from './work.ts';

const [folder = '', archive, publicKey = ''] = process.argv.slice(2);
const gateway = 'http://127.0.0.1:8787';
const { report, hasFailed } = openReport();
const call = callerOf(gateway);
const { podman, containers, logs } = openPodman(folder);

/** Sends one datagram to nobody, which has to be found among the attempts. */
async function showRecorder(): Promise<boolean> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.send('x', 9, '192.0.2.1', () => resolve()));
  socket.close();
  return attempts().some(({ address, port }) => address === '192.0.2.1' && port === 9);
}

/** Knows no name, and keeps those it was asked for. */
async function startNameServer(): Promise<Set<string>> {
  const names = new Set<string>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    names.add(askedName(query));
    // The question again, as an answer (QR) that there is no such name (NXDOMAIN).
    const answer = Buffer.from(query);
    answer.writeUInt16BE(0x8183, 2);
    socket.send(answer, port, address);
  });
  socket.bind(53, nameServer);
  await once(socket, 'listening');
  return names;
}

function attempts() {
  return readAttempts(execFileSync('nft', ['--json', 'list', 'ruleset'], { encoding: 'utf8' }));
}

function recordAfresh(): void {
  execFileSync('nft', ['flush', 'ruleset']);
  execFileSync('nft', ['-f', '-'], { input: attemptRules });
}

async function main(): Promise<void> {
  recordAfresh();
  report('a datagram to elsewhere is seen', (await showRecorder()) ? [] : ['it is not']);
  recordAfresh();
  const names = await startNameServer();

  const [stores, upstream] = await Promise.all([
    startStores(),
    startDemoUpstream({ host: '127.0.0.1', port: 8799 }),
  ]);
  report('Postgres, ClickHouse’s interface over chDB, Redis and NATS run');

  const one = { replicas: 1 };
  const bundle =
    archive === undefined ? undefined : await installBundle(folder, archive, publicKey);
  if (bundle !== undefined)
    report(
      `the bundle is verified, and its images are in a registry: ${bundle.arrived.length}, by Podman ${bundle.byPodman.length}`,
      bundle.byPodman.length === bundle.arrived.length ? [] : [bundle.byPodman.join(', ')],
    );
  const objects = renderObjects({
    ...(bundle ?? { profiles: ['airgap'] }),
    values: {
      secrets: { existingSecret: 'stores', generate: true },
      stores: { nats: { enabled: true }, redis: { enabled: true } },
      settings: { TRUSTED_CUSTOM_HOSTS: ['127.0.0.1'], TRUSTED_CALLER_HOSTS: ['127.0.0.1'] },
      gateway: {
        ...one,
        drain: { shutdownDelaySeconds: 1, drainSeconds: 10 },
        // There are no Services: under their names are the pods themselves.
        service: { port: 8787 },
      },
      controlPlane: one,
      dataService: { ...one, settings: { GAP_GRACE: 2000 } },
    },
  });
  const secrets = await secretValues(objects, stores.settings);
  const manifests = podManifests(objects, secrets);
  const migrationsFile = join(folder, 'migrations.yaml');
  const servicesFile = join(folder, 'services.yaml');
  writeFileSync(migrationsFile, manifests.migrations, { mode: 0o600 });
  writeFileSync(servicesFile, manifests.services, { mode: 0o600 });

  if (bundle === undefined) report(`${loadImages(podman)} images are loaded`);
  else pullImages(manifests.migrations + manifests.services);

  podman('kube', 'play', '--network', 'host', migrationsFile);
  const jobs = await until('migrations', async () => {
    // Podman takes an init container away when it has ended well, and plays no pod without that.
    const ended = containers().filter(({ State }) => State.Status === 'exited');
    return ended.some(({ Name }) => Name.endsWith('-first-keys')) ? ended : undefined;
  });
  report(
    'migrations and first keys',
    jobs
      .filter(({ State }) => State.ExitCode !== 0)
      .map(({ Name, State }) => `${Name}: ${State.ExitCode}\n${logs(Name)}`),
  );
  if (hasFailed()) return;

  podman('kube', 'play', '--network', 'host', servicesFile);
  await until('readiness', async () => {
    const response = await fetch(`${gateway}/health/ready`, { signal: AbortSignal.timeout(2000) });
    const text = await response.text();
    return response.ok && text.includes('connected') ? text : undefined;
  });
  const all = containers();
  report(
    `${all.length} containers: not root, no capability, nothing to write but their volumes`,
    allowedTooMuch(all),
  );

  const { ADMIN_KEY: adminKey = '', WORKSPACE_KEY: workspaceKey = '' } =
    secrets.get('sluice-first-keys') ?? {};
  const first = await until('the first answer', () => firstAnswer(workspaceKey, upstream.port));
  report(`the first answer, of a model server that the request names: ${first}`);
  const ofGateway = () => {
    const found = containers().find(({ Name }) => Name.endsWith('-gateway'));
    if (found === undefined) throw new Error('There is no gateway.');
    return found;
  };
  await outOfMemory({
    ...{ gateway, adminKey, workspaceKey, call, report, until },
    process: () => ({ pid: ofGateway().State.Pid, restarts: ofGateway().RestartCount }),
    limitMemory: (bytes) => podman('update', '--memory', String(bytes), ofGateway().Name),
  });
  await work({
    ...{ gateway, adminKey, workspaceKey, report },
    upstreamUrl: `http://127.0.0.1:${upstream.port}/v1`,
  });

  const running = containers().filter(({ State }) => State.Status === 'running');
  podman('stop', '--time', '60', ...running.map(({ Name }) => Name));
  report(
    `${running.length} services end on SIGTERM`,
    containers()
      .filter(({ State }) => State.ExitCode !== 0)
      .map(({ Name, State }) => `${Name}: ${State.ExitCode}`),
  );
  bundle?.stop();
  stores.child.stdin?.end();
  await Promise.all([once(stores.child, 'exit'), upstream.close()]);
  const services = objects
    .filter(({ kind }) => kind === 'Service')
    .map(({ metadata }) => `${metadata.name}.${metadata.namespace}.svc`);
  report('nothing was sent elsewhere, no name was asked for but of the chart’s own Services', [
    ...attempts().map((each) => `${each.address} ${each.protocol} ${each.port}: ${each.packets}`),
    ...[...names].filter((name) => !services.includes(name)).map((name) => `asked for: ${name}`),
  ]);
}

/** As docs/deploy/airgap.md has it. */
async function firstAnswer(key: string, port: number): Promise<string> {
  const response = await fetch(`${gateway}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': key,
      'x-service-provider': 'openai',
      authorization: 'Bearer any',
      'x-service-custom-host': `http://127.0.0.1:${port}/v1`,
    },
    body: JSON.stringify({ model: 'my-model', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return String(response.status);
}

/** By the digests that the Helm line named. */
function pullImages(manifests: string): void {
  const images = new Set([...manifests.matchAll(/"image":"([^"]+)"/g)].map(([, name]) => name));
  for (const image of images) podman('pull', '--quiet', '--tls-verify=false', image as string);
  report(
    `${images.size} images are pulled by digest`,
    [...images].filter((image) => !/^127\.0\.0\.1:5000\/mirror\/.*@sha256:/.test(image ?? '')),
  );
}

try {
  await main();
} catch (error) {
  report('an error', [error instanceof Error ? `${error.stack}\n${error.cause ?? ''}` : error]);
  try {
    for (const { Name } of containers())
      process.stdout.write(`${Name}:\n${logs(Name).split('\n').slice(-6).join('\n')}\n`);
  } catch {
    // Podman itself is what failed.
  }
}
process.exit(hasFailed() ? 1 : 0);
