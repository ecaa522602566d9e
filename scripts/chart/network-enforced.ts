/**
 * Enforces the chart's NetworkPolicies with nft, a network namespace for each
 * workload, and tries every pair on every port. Nothing is made in the
 * namespace of the machine itself; the bridge has one, too. Needs root.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Attempt, Order } from './network-peer.ts';
import { type Participant, rulesFor } from './network-rules.ts';
import { addressOf, componentsOf, outsiderValues, tableBelow } from './network-table.ts';
import { type KubernetesObject, renderObjects, root, type ValueSet } from './render.ts';
import { profiles } from './value-sets.ts';

/** How the release is set up, and who is around it. */
interface Installation {
  readonly set: ValueSet;
  readonly others: readonly Participant[];
  /** What a row of architecture.md means here: to whom, on which ports. */
  readonly meant: (to: string, ports: readonly number[]) => [to: string, ports: readonly number[]];
}

/** What was tried in one installation. */
export interface Enforced {
  readonly tried: number;
  readonly allowed: number;
  readonly refused: number;
  readonly faults: readonly string[];
}

const namespaceOfRelease = 'ai';

/** A forbidden connection must not be there after so long; one that is allowed may take its time. In ms. */
const [forbiddenWait, allowedWait] = [300, 10_000];

/** On which nobody may be reached by anybody. */
const unnamedPort = 9999;

const gatewayLabels = {
  'app.kubernetes.io/name': 'sluice',
  'app.kubernetes.io/instance': 'sluice',
  'app.kubernetes.io/component': 'gateway',
};

/** Whom no rule means. */
const strangers: readonly Participant[] = [
  { name: 'a pod beside', address: '10.42.9.1', namespace: namespaceOfRelease, labels: {} },
  {
    name: 'a gateway of another release',
    address: '10.42.9.2',
    namespace: namespaceOfRelease,
    labels: { ...gatewayLabels, 'app.kubernetes.io/instance': 'other' },
  },
  {
    name: 'a gateway of another namespace',
    address: '10.42.9.3',
    namespace: 'other',
    labels: { ...gatewayLabels, 'k8s-app': 'kube-dns', app: 'prometheus' },
  },
  { name: 'a host inside', address: '10.99.0.1' },
  { name: 'metadata of the cloud', address: '169.254.169.254' },
];

const outsiders = (...names: string[]): Participant[] =>
  names.map((name) => ({ name, address: addressOf(name) }));
const inNamespace = (name: string) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
});
const trialPods: Readonly<Record<string, string>> = {
  Postgres: 'postgres',
  ClickHouse: 'clickhouse',
  NATS: 'nats',
  Redis: 'redis',
};

/** Everybody outside by address, and everybody inside by labels. */
export const installations: Readonly<Record<string, Installation>> = {
  'stores elsewhere, everybody outside by address': {
    set: { values: outsiderValues },
    others: [
      ...outsiders('Postgres', 'ClickHouse', 'NATS', 'Redis', 'Kubernetes'),
      ...outsiders('object store', 'providers', 'DNS', 'callers', 'Prometheus'),
      ...strangers,
    ],
    meant: (to, ports) => [to, ports],
  },
  'the trial with its stores, everybody outside by labels': {
    set: {
      profiles: ['trial'],
      values: {
        ...profiles.trial?.values,
        stores: { nats: { enabled: true }, redis: { enabled: true } },
        settings: { LOG_STORE: 's3_custom', LOG_STORE_BASEPATH: 'https://minio.stores/bodies' },
        networkPolicy: {
          objectStore: { to: [inNamespace('stores')] },
          callers: [inNamespace('ingress')],
          scrapers: [
            { ...inNamespace('monitoring'), podSelector: { matchLabels: { app: 'prometheus' } } },
          ],
          kubernetes: { to: [{ ipBlock: { cidr: '10.96.0.1/32' } }] },
        },
      },
    },
    others: [
      ...outsiders('providers'),
      { name: 'Kubernetes', address: '10.96.0.1' },
      {
        name: 'DNS',
        address: '10.42.8.1',
        namespace: 'kube-system',
        labels: { 'k8s-app': 'kube-dns' },
      },
      { name: 'object store', address: '10.42.8.5', namespace: 'stores', labels: {} },
      { name: 'callers', address: '10.42.8.2', namespace: 'ingress', labels: { app: 'nginx' } },
      {
        name: 'Prometheus',
        address: '10.42.8.3',
        namespace: 'monitoring',
        labels: { app: 'prometheus' },
      },
      { name: 'Grafana', address: '10.42.8.4', namespace: 'monitoring', labels: {} },
      ...strangers,
    ],
    // The trial's ClickHouse has no certificate, and with it no 8443.
    meant: (to, ports) => [trialPods[to] ?? to, ports.filter((port) => port !== 8443)],
  },
};

/** @throws Error when this is no place for it, with what is missing */
export function assertNetworks(): void {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    throw new Error(
      'not tried: network namespaces need root on Linux. `npm run chart -- --without-network` leaves them out.',
    );
  const missing = [
    ['ip', 'iproute2'],
    ['nft', 'nftables'],
  ].filter(([command = '']) => spawnSync(command, ['-V']).error !== undefined);
  if (missing.length === 0) return;
  const names = missing.map(([, name = '']) => name);
  const done = spawnSync('apt-get', ['install', '--yes', '--no-install-recommends', ...names]);
  if (done.status !== 0)
    throw new Error(`not tried: ${names.join(' and ')} are missing, and apt-get has none.`);
}

/** Tries every pair of which one is of the release. */
export async function tryNetwork(installation: Installation): Promise<Enforced> {
  const objects = renderObjects(installation.set);
  const release = componentsOf(objects).map(
    ({ name, labels }, at): Participant => ({
      name,
      labels,
      address: `10.42.0.${at + 1}`,
      namespace: namespaceOfRelease,
    }),
  );
  const everybody = [...release, ...installation.others];
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  const allowed = allowedBy(installation, release);
  const tcp = portsOf(objects, policies);
  const unknown = [...allowed].filter((key) => {
    const [from, to, port] = key.split(' > ');
    const has = (name = '') => everybody.some((each) => each.name === name);
    return !has(from) || !has(to) || !tcp.includes(Number.parseInt(port ?? '', 10));
  });
  if (unknown.length > 0) throw new Error(`nobody could try ${unknown.join(', ')}`);
  const network = new Network();
  try {
    await Promise.all(everybody.map((each) => network.add(each, tcp, [53])));
    const plan = everybody.map((from) => ({
      from,
      tries: everybody
        .filter((to) => to !== from && (release.includes(from) || release.includes(to)))
        .flatMap((to) => [
          ...tcp.map((port) => attemptOf(from, to, port, 'TCP')),
          attemptOf(from, to, 53, 'UDP'),
        ]),
    }));
    const faults: string[] = [];
    let [tried, reached] = [0, 0];
    const run = async (isAllowed: (key: string) => boolean, when: string) => {
      [tried, reached] = [0, 0];
      for (const { from, tries } of plan) {
        const results = await network.attempt(
          from,
          tries.map(({ key, attempt }) => ({
            ...attempt,
            wait: isAllowed(key) ? allowedWait : forbiddenWait,
          })),
        );
        tries.forEach(({ key }, at) => {
          tried += 1;
          if (results[at] === true) reached += 1;
          if (results[at] === isAllowed(key)) return;
          faults.push(`${key}: ${isAllowed(key) ? 'refused' : 'let through'}${when}`);
        });
      }
    };
    // What is refused without a rule would prove nothing of the rules.
    await run(() => true, ' before there are rules');
    if (faults.length === 0) {
      for (const pod of release) network.enforce(pod, rulesFor(pod, everybody, policies));
      await run((key) => allowed.has(key), '');
    }
    return { tried, allowed: reached, refused: tried - reached, faults };
  } finally {
    network.close();
  }
}

/** What architecture.md lets through; all services ask DNS, the stores of a trial ask nobody. */
function allowedBy({ meant }: Installation, release: readonly Participant[]): Set<string> {
  const page = readFileSync(`${root}/docs/architecture.md`, 'utf8');
  const drawn = tableBelow(page, 'Who speaks to whom').flatMap(
    ([from = '', cell = '', ports = '']) => {
      const [to, left] = meant(cell, ports.split(', ').map(Number));
      return left.map((port) => keyOf(from, to, port, 'TCP'));
    },
  );
  const stores = Object.values(trialPods);
  const asking = release.filter(({ name }) => !stores.includes(name));
  const dns = asking.flatMap(({ name }) =>
    (['TCP', 'UDP'] as const).map((protocol) => keyOf(name, 'DNS', 53, protocol)),
  );
  return new Set([...drawn, ...dns]);
}

const keyOf = (from: string, to: string, port: number, protocol: string) =>
  `${from} > ${to} > ${port}/${protocol}`;

function attemptOf(from: Participant, to: Participant, port: number, protocol: 'TCP' | 'UDP') {
  const key = keyOf(from.name, to.name, port, protocol);
  return { key, attempt: { address: to.address, port, protocol } };
}

/** Every port that a pod or a policy names, and one that none does. */
function portsOf(
  objects: readonly KubernetesObject[],
  policies: readonly KubernetesObject[],
): number[] {
  const named = policies.flatMap(({ spec }) =>
    [...(spec.ingress ?? []), ...(spec.egress ?? [])].flatMap(({ ports = [] }) =>
      (ports as { port: number }[]).map(({ port }) => port),
    ),
  );
  const open = componentsOf(objects).flatMap(({ ports }) => ports);
  return [...new Set([...named, ...open, unnamedPort])].sort((a, b) => a - b);
}

const prefix = 'sluice-chart-';

/** A namespace and a process for each participant, and a bridge between them; all gone after `close`, and after a signal. */
class Network {
  readonly #peers = new Map<
    Participant,
    { readonly name: string; readonly process: ChildProcess }
  >();
  readonly #bridge = `${prefix}${process.pid}-bridge`;
  readonly #names: string[] = [this.#bridge];
  readonly #onSignal = () => {
    this.close();
    process.exit(1);
  };

  constructor() {
    removeLeft();
    for (const signal of signals) process.once(signal, this.#onSignal);
    run('ip', ['netns', 'add', this.#bridge]);
    run('ip', ['-n', this.#bridge, 'link', 'add', 'bridge', 'type', 'bridge']);
    run('ip', ['-n', this.#bridge, 'link', 'set', 'bridge', 'up']);
  }

  async add(participant: Participant, ports: readonly number[], datagrams: readonly number[]) {
    const at = this.#names.length;
    const name = `${prefix}${process.pid}-${at}`;
    this.#names.push(name);
    run('ip', ['netns', 'add', name]);
    const link = ['link', 'add', `veth${at}`, 'type', 'veth', 'peer', 'name', 'eth0'];
    run('ip', ['-n', this.#bridge, ...link, 'netns', name]);
    run('ip', ['-n', this.#bridge, 'link', 'set', `veth${at}`, 'master', 'bridge', 'up']);
    run('ip', ['-n', name, 'link', 'set', 'lo', 'up']);
    run('ip', ['-n', name, 'link', 'set', 'eth0', 'up']);
    run('ip', ['-n', name, 'address', 'add', `${participant.address}/32`, 'dev', 'eth0']);
    // Everybody is on the same wire, whatever their address.
    run('ip', ['-n', name, 'route', 'add', 'default', 'dev', 'eth0']);
    const file = join(import.meta.dirname, 'network-peer.ts');
    const child = spawn(
      'ip',
      ['netns', 'exec', name, process.execPath, '--disable-warning=ExperimentalWarning', file],
      { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
    );
    this.#peers.set(participant, { name, process: child });
    await tell(child, { listen: ports, datagrams });
  }

  attempt(from: Participant, attempts: readonly Attempt[]): Promise<boolean[]> {
    return tell(this.#of(from).process, { attempts }) as Promise<boolean[]>;
  }

  enforce(pod: Participant, rules: string): void {
    run('ip', ['netns', 'exec', this.#of(pod).name, 'nft', '-f', '-'], rules);
  }

  close(): void {
    for (const signal of signals) process.off(signal, this.#onSignal);
    for (const { process: child } of this.#peers.values()) child.kill('SIGKILL');
    for (const name of this.#names) spawnSync('ip', ['netns', 'delete', name]);
  }

  #of(participant: Participant) {
    const peer = this.#peers.get(participant);
    if (peer === undefined) throw new Error(`${participant.name} is not on the network`);
    return peer;
  }
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect'] as const;

/** What a run left that was killed: namespaces with the id of a process that is gone. */
function removeLeft(): void {
  if (!existsSync('/run/netns')) return;
  for (const name of readdirSync('/run/netns')) {
    const id = name.startsWith(prefix) ? name.slice(prefix.length).split('-')[0] : undefined;
    if (id !== undefined && !existsSync(`/proc/${id}`)) spawnSync('ip', ['netns', 'delete', name]);
  }
}

function run(command: string, args: readonly string[], input?: string): void {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8', input });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`);
}

/** What it answers. @throws Error when it ends, or has none for a minute */
function tell(child: ChildProcess, order: Order): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Error('a participant of the network ended, or hangs'));
    const timer = setTimeout(fail, 60_000);
    child.once('exit', fail);
    child.once('message', (answer) => {
      clearTimeout(timer);
      child.off('exit', fail);
      resolve(answer);
    });
    child.send(order);
  });
}
