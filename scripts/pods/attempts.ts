/** A place beyond this machine that a process sent something to. */
export interface Attempt {
  address: string;
  protocol: string;
  port: number;
  packets: number;
}

/** Nobody's (RFC 5737): where the namespace looks names up. */
export const nameServer = '192.0.2.53';

/**
 * For a namespace with a loopback interface alone, whose default route leads back into it: every packet to
 * another address is written down and refused. Without that route the kernel would refuse it before anybody counts.
 * Whoever listens at `nameServer` sees the names that are asked for.
 */
export const attemptRules = `table inet attempts {
  set four {
    type ipv4_addr . inet_proto . inet_service
    flags dynamic
    size 4096
    counter
  }
  set six {
    type ipv6_addr . inet_proto . inet_service
    flags dynamic
    size 4096
    counter
  }
  chain output {
    type filter hook output priority 0
    ip daddr 127.0.0.0/8 accept
    ip6 daddr ::1 accept
    ip daddr ${nameServer} udp dport 53 accept
    ip saddr ${nameServer} udp sport 53 accept
    meta nfproto ipv4 meta l4proto { tcp, udp } add @four { ip daddr . meta l4proto . th dport }
    meta nfproto ipv6 meta l4proto { tcp, udp } add @six { ip6 daddr . meta l4proto . th dport }
    reject
  }
}
`;

/** The name that a DNS query asks for (RFC 1035, 4.1); empty when it is none. */
export function askedName(query: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; at < query.length; ) {
    const length = query[at] as number;
    if (length === 0 || length > 63) break;
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels.join('.');
}

interface Ruleset {
  nftables: {
    set?: {
      elem?: {
        elem: { val: { concat: [string, string, number] }; counter: { packets: number } };
      }[];
    };
  }[];
}

/** Reads what `nft --json list ruleset` says of `attemptRules`. */
export function readAttempts(ruleset: string): Attempt[] {
  const { nftables } = JSON.parse(ruleset) as Ruleset;
  return nftables
    .flatMap(({ set }) => set?.elem ?? [])
    .map(({ elem }) => {
      const [address, protocol, port] = elem.val.concat;
      return { address, protocol, port, packets: elem.counter.packets };
    });
}
