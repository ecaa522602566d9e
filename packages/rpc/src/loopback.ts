/** Whether whoever listens there, or is asked there, is on this machine. */
export function isLoopbackHost(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, '').toLowerCase();
  return plain === 'localhost' || plain === '::1' || /^127(\.\d{1,3}){3}$/.test(plain);
}

/**
 * Whether an address as gRPC takes them (`host:port`, `dns:///host:port`,
 * `ipv4:a:1,b:2`, `unix:/path`) leads nowhere but to this machine.
 */
export function isLoopbackAddress(address: string): boolean {
  if (/^unix(-abstract)?:/.test(address)) return true;
  const targets = address.replace(/^(dns:(\/\/[^/]*\/)?|ipv4:|ipv6:)/, '').split(',');
  return targets.every((target) => isLoopbackHost(target.replace(/(?<=^[^:]*|\]):\d+$/, '')));
}
