import { type KubernetesObject, renderObjects } from './render.ts';

/** One pair that may speak: who opens the connection, to whom, on which port. */
export interface Flow {
  readonly from: string;
  readonly to: string;
  readonly port: number;
}

/** Of a pod or a namespace. */
export type Labels = Readonly<Record<string, string>>;

/** Whom a rule of a policy means. */
export interface Peer {
  readonly podSelector?: { readonly matchLabels?: Labels };
  readonly namespaceSelector?: { readonly matchLabels?: Labels };
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
}

/** What a policy lets through. */
export interface Rule {
  readonly ports?: readonly { readonly port: number; readonly protocol: string }[];
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
}

/** A pod as policies see it. */
interface Pod {
  readonly name: string;
  readonly labels: Labels;
  readonly ports: readonly number[];
}

/** Addresses that stand for what is outside, so that a rule tells whom it means. */
const outside: Readonly<Record<string, string>> = {
  '192.0.2.1/32': 'Postgres',
  '192.0.2.2/32': 'ClickHouse',
  '192.0.2.3/32': 'NATS',
  '192.0.2.4/32': 'Redis',
  '192.0.2.5/32': 'Kubernetes',
  '192.0.2.6/32': 'providers',
  '192.0.2.7/32': 'DNS',
  '192.0.2.8/32': 'callers',
  '192.0.2.9/32': 'Prometheus',
  '192.0.2.10/32': 'object store',
};

/** @throws Error when nobody outside has this name */
export function addressOf(name: string): string {
  const cidr = Object.keys(outside).find((each) => outside[each] === name);
  if (cidr === undefined) throw new Error(`${name} is nobody outside`);
  return cidr.replace('/32', '');
}

const block = (name: string) => [{ ipBlock: { cidr: `${addressOf(name)}/32` } }];

/** With every store there is, and everybody outside at an address of their own. */
export const outsiderValues = {
  secrets: { existingSecret: 'sluice' },
  stores: { nats: { enabled: true }, redis: { enabled: true } },
  settings: { LOG_STORE: 's3' },
  networkPolicy: {
    callers: block('callers'),
    scrapers: block('Prometheus'),
    dns: { to: block('DNS') },
    postgres: { to: block('Postgres') },
    clickhouse: { to: block('ClickHouse') },
    nats: { to: block('NATS') },
    redis: { to: block('Redis') },
    kubernetes: { to: block('Kubernetes') },
    providers: { to: block('providers') },
    objectStore: { to: block('object store') },
  },
};

/** Who may speak to whom by the chart's NetworkPolicies; DNS is everybody's, and left out. */
export function networkTable(): Flow[] {
  return flowsOf(renderObjects({ values: outsiderValues })).filter(({ to }) => to !== 'DNS');
}

/** What the policies among these objects let through, of the pods among them. */
export function flowsOf(objects: readonly KubernetesObject[]): Flow[] {
  const pods = componentsOf(objects);
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy');
  const flows: Flow[] = [];
  const add = (from: string, to: string, port: number) => flows.push({ from, to, port });
  const rulesOf = (pod: Pod, direction: 'ingress' | 'egress'): readonly Rule[] | undefined => {
    const own = policies.filter(
      ({ spec }) =>
        spec.policyTypes.includes(direction === 'ingress' ? 'Ingress' : 'Egress') &&
        isSelected(spec.podSelector, pod.labels),
    );
    // A pod that no policy selects is open.
    return own.length === 0 ? undefined : own.flatMap(({ spec }) => spec[direction] ?? []);
  };
  for (const from of pods) {
    const egress = rulesOf(from, 'egress');
    for (const to of pods)
      for (const port of to.ports)
        if (
          from !== to &&
          allows(egress, 'to', to.labels, port) &&
          allows(rulesOf(to, 'ingress'), 'from', from.labels, port)
        )
          add(from.name, to.name, port);
    for (const [name, port] of outsiders(egress, 'to')) add(from.name, name, port);
    for (const [name, port] of outsiders(rulesOf(from, 'ingress'), 'from'))
      add(name, from.name, port);
  }
  // By code unit: the same order whatever the language of the machine.
  return flows.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : sortKey(a) > sortKey(b) ? 1 : 0));
}

const sortKey = ({ from, to, port }: Flow) => `${from}|${to}|${port}`;

/** The pods of the release, by what they are for. */
export function componentsOf(objects: readonly KubernetesObject[]): Pod[] {
  return objects.flatMap((object) => {
    const { kind, metadata, spec } = object;
    const template =
      kind === 'Pod'
        ? { metadata, spec }
        : kind === 'CronJob'
          ? spec.jobTemplate.spec.template
          : spec?.template;
    if (template?.spec?.containers === undefined) return [];
    const labels = template.metadata.labels as Labels;
    const containers = template.spec.containers as { ports?: { containerPort: number }[] }[];
    return [
      {
        name: labels['app.kubernetes.io/component'] ?? metadata.name,
        labels,
        ports: containers.flatMap(({ ports = [] }) => ports.map((each) => each.containerPort)),
      },
    ];
  });
}

function isSelected(selector: { matchLabels?: Labels } | undefined, labels: Labels): boolean {
  return Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}

function allows(
  rules: readonly Rule[] | undefined,
  side: 'from' | 'to',
  labels: Labels,
  port: number,
): boolean {
  if (rules === undefined) return true;
  return rules.some((rule) => {
    const peers = rule[side];
    const isMeant =
      peers === undefined ||
      peers.some(
        (peer) =>
          peer.podSelector !== undefined &&
          peer.namespaceSelector === undefined &&
          isSelected(peer.podSelector, labels),
      );
    return isMeant && hasPort(rule, port);
  });
}

function hasPort({ ports }: Rule, port: number): boolean {
  return ports === undefined || ports.some((each) => each.port === port && each.protocol === 'TCP');
}

/** Of the rules, those that mean somebody outside; a rule for anybody is told as `anybody`. */
function outsiders(rules: readonly Rule[] = [{}], side: 'from' | 'to'): [string, number][] {
  return rules.flatMap((rule) => {
    const names = (rule[side] ?? [{}]).flatMap(({ ipBlock, podSelector, namespaceSelector }) => {
      if (podSelector !== undefined || namespaceSelector !== undefined) return [];
      return [ipBlock === undefined ? 'anybody' : (outside[ipBlock.cidr] ?? ipBlock.cidr)];
    });
    const ports = (rule.ports ?? [{ port: 0, protocol: 'TCP' }]).filter(
      ({ protocol }) => protocol === 'TCP',
    );
    return names.flatMap((name) => ports.map(({ port }): [string, number] => [name, port]));
  });
}

/** The table of a page, as rows of its cells: that under the heading. */
export function tableBelow(page: string, heading: string): string[][] {
  const from = page.indexOf(`\n## ${heading}\n`);
  if (from < 0) throw new Error(`the page has no heading ${heading}`);
  const end = page.indexOf('\n## ', from + 4);
  return page
    .slice(from, end < 0 ? undefined : end)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

/** The picture of docs/deploy/kubernetes.md: each box a kind of pod, or somebody outside. */
export function flowsPicture(): string {
  const byPair = new Map<string, number[]>();
  for (const { from, to, port } of networkTable()) {
    const pair = `${idOf(from)} --> ${idOf(to)}`;
    byPair.set(pair, [...(byPair.get(pair) ?? []), port]);
  }
  const names = new Set(networkTable().flatMap(({ from, to }) => [from, to]));
  const components = new Set(
    componentsOf(renderObjects({ values: outsiderValues })).map(({ name }) => name),
  );
  const boxes = [...names].sort().map((name) => {
    const id = idOf(name);
    return `  ${id}${components.has(name) ? `[${name}]` : `([${name}])`}`;
  });
  const arrows = [...byPair].map(
    ([pair, ports]) => `  ${pair.replace('-->', `-->|${ports.join(', ')}|`)}`,
  );
  return ['```mermaid', 'flowchart LR', ...boxes, ...arrows, '```', ''].join('\n');
}

function idOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '_');
}
