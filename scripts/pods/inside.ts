/** What `npm run pods` does within its own network: `inside.ts FOLDER`. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDemoUpstream } from '@sluice/demo-upstream';
import { renderObjects, root } from '../chart/render.ts';
import type { ImageList } from '../images/make-images.ts';
import type { KubernetesSecret } from '../provision/kubernetes-api.ts';
import { type MadeSecrets, makeSecrets } from '../provision/make-secrets.ts';
import { askedName, attemptRules, nameServer, readAttempts } from './attempts.ts';
import { podManifests } from './manifests.ts';
import { outOfMemory } from './out-of-memory.ts';
import { allowedTooMuch, openPodman, startStores } from './podman.ts';

const folder = process.argv[2] as string;
const gateway = 'http://127.0.0.1:8787';
let failed = false;

function report(what: string, faults: readonly unknown[] = []): void {
  process.stdout.write(`${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${what}\n`);
  for (const fault of faults) process.stdout.write(`      ${fault}\n`);
  failed ||= faults.length > 0;
}

const { podman, containers, logs } = openPodman(folder);

async function until<Value>(what: string, check: () => Promise<Value | undefined>): Promise<Value> {
  const end = Date.now() + 60_000;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const value = await check();
      if (value !== undefined) return value;
    } catch (error) {
      last = error;
    }
    await delay(250);
  }
  throw new Error(`${what}: not within a minute`, { cause: last });
}

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

async function call(key: string, path: string, body?: object): Promise<Response> {
  const response = await fetch(`${gateway}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  });
  if (response.status !== 200)
    throw new Error(`${path}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  return response;
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
  const objects = renderObjects({
    profiles: ['airgap'],
    values: {
      secrets: { existingSecret: 'stores', generate: true },
      stores: { nats: { enabled: true }, redis: { enabled: true } },
      settings: { TRUSTED_CUSTOM_HOSTS: ['127.0.0.1'] },
      gateway: {
        ...one,
        drain: { shutdownDelaySeconds: 1, drainSeconds: 10 },
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

  const images = JSON.parse(
    readFileSync(join(root, 'dist/images/images.json'), 'utf8'),
  ) as ImageList;
  for (const { service } of images.images)
    podman('load', '--quiet', '--input', join(root, `dist/images/${service}.oci.tar`));
  report(`${images.images.length} images are loaded`);

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
  if (failed) return;

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
  await work({ adminKey, workspaceKey }, upstream.port);

  const running = containers().filter(({ State }) => State.Status === 'running');
  podman('stop', '--time', '60', ...running.map(({ Name }) => Name));
  report(
    `${running.length} services end on SIGTERM`,
    containers()
      .filter(({ State }) => State.ExitCode !== 0)
      .map(({ Name, State }) => `${Name}: ${State.ExitCode}`),
  );
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

/** As the chart's own Job makes them, and the Secret with the stores. */
async function secretValues(
  objects: ReturnType<typeof renderObjects>,
  stores: Readonly<Record<string, string>>,
): Promise<Map<string, Record<string, string>>> {
  const job = objects.find(
    ({ metadata, kind }) => kind === 'Job' && metadata.name === 'sluice-provision',
  );
  const wanted = JSON.parse(job?.spec.template.spec.containers[0].env[0].value) as MadeSecrets;
  const held = new Map<string, KubernetesSecret>();
  await makeSecrets(
    {
      read: async (name) => held.get(name),
      create: async (secret) => {
        held.set(secret.metadata.name, secret);
        return true;
      },
      patch: async (name, data) => {
        const secret = held.get(name) as KubernetesSecret;
        held.set(name, { ...secret, data: { ...secret.data, ...data } });
      },
    },
    wanted,
    new Date(),
  );
  const values = new Map<string, Record<string, string>>([['stores', { ...stores }]]);
  for (const [name, { data }] of held)
    values.set(
      name,
      Object.fromEntries(
        Object.entries(data ?? {}).map(([key, value]) => [
          key,
          Buffer.from(value, 'base64').toString('utf8'),
        ]),
      ),
    );
  return values;
}

async function work(
  { adminKey: admin, workspaceKey }: { adminKey: string; workspaceKey: string },
  upstreamPort: number,
): Promise<void> {
  const { data } = (await (await call(admin, '/v1/admin/workspaces')).json()) as {
    data: { id: string }[];
  };
  const workspace = data[0]?.id;
  await call(admin, '/v1/integrations', {
    name: 'own',
    slug: 'own',
    ai_provider_id: 'openai',
    key: 'sk-saved',
    workspace_id: workspace,
    configurations: { custom_host: `http://127.0.0.1:${upstreamPort}/v1` },
    create_default_provider: true,
    default_provider_slug: 'own',
  });
  const chat = {
    model: '@own/gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
  };
  const answer = await until('a chat', async () => {
    const response = await call(workspaceKey, '/v1/chat/completions', chat);
    return (await response.json()) as { choices?: { message?: { content?: string } }[] };
  });
  report('a chat', answer.choices?.[0]?.message?.content ? [] : [JSON.stringify(answer)]);
  const stream = await call(workspaceKey, '/v1/chat/completions', { ...chat, stream: true });
  const events = await stream.text();
  report('a stream', events.trimEnd().endsWith('data: [DONE]') ? [] : [events.slice(-300)]);

  const common = {
    conditions: [{ key: 'workspace_id', value: workspace }],
    group_by: [{ key: 'api_key' }],
    workspace_id: workspace,
  };
  const policies = {
    'rate-limits': { name: 'rate', type: 'requests', unit: 'rpd', value: 3, ...common },
    'usage-limits': { name: 'budget', type: 'cost', credit_limit: 100, ...common },
  };
  for (const [kind, policy] of Object.entries(policies)) {
    const made = (await (await call(admin, `/v1/policies/${kind}`, policy)).json()) as {
      id?: string;
    };
    report(`a policy of ${kind}`, made.id === undefined ? [JSON.stringify(made)] : []);
  }
  const statuses: number[] = [];
  await until('the rate limit', async () => {
    const response = await fetch(`${gateway}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-service-api-key': workspaceKey, 'content-type': 'application/json' },
      body: JSON.stringify(chat),
      signal: AbortSignal.timeout(20_000),
    });
    await response.text();
    statuses.push(response.status);
    return response.status === 429 ? true : undefined;
  });
  const served = 2 + statuses.filter((status) => status === 200).length;
  report(
    `the limit of 3 a day holds (${statuses.join(', ')})`,
    statuses.length > 20 ? ['late'] : [],
  );

  const day = new Date().toISOString().slice(0, 10);
  const range = `time_of_generation_min=${day}T00:00:00Z&time_of_generation_max=${day}T23:59:59Z`;
  const total = async (graph: string) => {
    const response = await call(admin, `/v1/analytics/graphs/${graph}?${range}`);
    return ((await response.json()) as { summary: { total: number } }).summary.total;
  };
  const requests = await until('analytics', async () => {
    const counted = await total('requests');
    return counted >= served ? counted : undefined;
  });
  const cost = await total('cost');
  report(`analytics: ${requests} requests, ${cost} cents`, cost > 0 ? [] : ['no cost']);
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
process.exit(failed ? 1 : 0);
