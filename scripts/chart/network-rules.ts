import type { Labels, Peer, Rule } from './network-table.ts';
import type { KubernetesObject } from './render.ts';

/** Somebody on the network: a pod, or with `namespace` left out an address outside of the cluster. */
export interface Participant {
  readonly name: string;
  readonly address: string;
  readonly namespace?: string;
  readonly labels?: Labels;
}

/**
 * What the policies mean for one pod, as a file of nft: a direction that a
 * policy selects lets nothing through but its rules; another is left open.
 * @throws Error for what a policy may have, and none of the chart's has
 */
export function rulesFor(
  pod: Participant,
  everybody: readonly Participant[],
  policies: readonly KubernetesObject[],
): string {
  const own = policies.filter(
    ({ metadata, spec }) =>
      (metadata.namespace ?? 'ai') === pod.namespace &&
      isSelected(spec.podSelector, pod.labels ?? {}),
  );
  const chain = (type: 'Ingress' | 'Egress') => {
    const selecting = own.filter(({ spec }) => spec.policyTypes.includes(type));
    if (selecting.length === 0) return [];
    const [hook, side, device] =
      type === 'Ingress' ? (['input', 'from', 'iif'] as const) : (['output', 'to', 'oif'] as const);
    const rules = selecting.flatMap(({ spec }) =>
      ((spec[hook === 'input' ? 'ingress' : 'egress'] ?? []) as Rule[]).flatMap((rule) =>
        addressesOf(rule[side], side, everybody, pod.namespace ?? '').flatMap((addresses) =>
          portsOf(rule).map((ports) => `    ${addresses} ${ports} accept`),
        ),
      ),
    );
    return [
      `  chain ${hook} {`,
      `    type filter hook ${hook} priority 0; policy drop;`,
      `    ${device} lo accept`,
      '    ct state established,related accept',
      ...rules,
      '  }',
    ];
  };
  return ['table inet policies {', ...chain('Ingress'), ...chain('Egress'), '}', ''].join('\n');
}

/** Whom the peers of a rule mean, each as a condition of nft. */
function addressesOf(
  peers: readonly Peer[] | undefined,
  side: 'from' | 'to',
  everybody: readonly Participant[],
  namespace: string,
): string[] {
  const field = side === 'from' ? 'saddr' : 'daddr';
  // No peers, or an empty list of them, is anybody.
  if (peers === undefined || peers.length === 0) return [''];
  return peers.flatMap((peer) => {
    onlyKnows(peer, ['ipBlock', 'podSelector', 'namespaceSelector']);
    if (peer.ipBlock !== undefined) {
      const { cidr, except = [] } = peer.ipBlock;
      const family = cidr.includes(':') ? 'ip6' : 'ip';
      const but = except.length === 0 ? '' : ` ${family} ${field} != { ${except.join(', ')} }`;
      return [`${family} ${field} ${cidr}${but}`];
    }
    const meant = everybody.filter(
      (each) =>
        each.namespace !== undefined &&
        (peer.namespaceSelector === undefined
          ? each.namespace === namespace
          : isSelected(peer.namespaceSelector, {
              'kubernetes.io/metadata.name': each.namespace,
            })) &&
        isSelected(peer.podSelector, each.labels ?? {}),
    );
    return meant.map(({ address }) => `ip ${field} ${address}`);
  });
}

function portsOf(rule: Rule): string[] {
  onlyKnows(rule, ['ports', 'from', 'to']);
  if (rule.ports === undefined) return [''];
  return rule.ports.map((each) => {
    onlyKnows(each, ['port', 'protocol']);
    if (typeof each.port !== 'number') throw new Error(`${each.port} is not a number of a port`);
    return `${each.protocol.toLowerCase()} dport ${each.port}`;
  });
}

function isSelected(selector: { matchLabels?: Labels } | undefined, labels: Labels): boolean {
  onlyKnows(selector ?? {}, ['matchLabels']);
  return Object.entries(selector?.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
}

function onlyKnows(part: object, names: readonly string[]): void {
  const other = Object.keys(part).filter((name) => !names.includes(name));
  if (other.length > 0) throw new Error(`NetworkPolicies with ${other.join(', ')} are not known`);
}
