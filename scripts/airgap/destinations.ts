/** A place that a process meant to reach. */
export interface Destination {
  address: string;
  port: number;
  /** How often. */
  count: number;
}

export interface Recorded {
  /** Calls with an address in them. */
  calls: number;
  /** Beyond this machine, or a question for a name wherever it went. */
  outside: Destination[];
}

const namePort = 53;

/** Reads what strace wrote of `connect`, `sendto`, `sendmsg` and `sendmmsg`, a line a call. */
export function readDestinations(trace: string): Recorded {
  const outside = new Map<string, Destination>();
  let calls = 0;
  for (const line of trace.split('\n')) {
    const port = Number(/sin6?_port=htons\((\d+)\)/.exec(line)?.[1] ?? Number.NaN);
    const address =
      /sin_addr=inet_addr\("([^"]+)"\)/.exec(line)?.[1] ??
      /inet_pton\(AF_INET6, "([^"]+)"/.exec(line)?.[1];
    if (address === undefined || Number.isNaN(port)) continue;
    calls += 1;
    if (isHere(address) && port !== namePort) continue;
    const key = `${address} ${port}`;
    const known = outside.get(key);
    if (known === undefined) outside.set(key, { address, port, count: 1 });
    else known.count += 1;
  }
  return { calls, outside: [...outside.values()] };
}

function isHere(address: string): boolean {
  return (
    address === '::1' ||
    /^(::ffff:)?127\./.test(address) ||
    address === '::' ||
    address === '0.0.0.0'
  );
}
