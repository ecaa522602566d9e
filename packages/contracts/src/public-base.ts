import { isIPv4 } from 'node:net';
import type { Arrival } from './arrival.ts';

/** What is configured of the address that callers use; undefined = nothing. */
export interface PublicAddresses {
  /** MCP_GATEWAY_BASE_URL. */
  readonly mcp: string | undefined;
  /** PUBLIC_URL. */
  readonly public: string | undefined;
}

/**
 * Under which address MCP servers and agents are reached, without a slash at its
 * end. What a caller wrote as `Host` is believed on loopback only: elsewhere it
 * would let anybody send others, and their credentials, to a host of theirs.
 * @returns empty when nobody said it: addresses are paths then
 */
export function toolBaseUrl(
  { mcp, public: publicUrl }: PublicAddresses,
  arrival: Pick<Arrival, 'host' | 'proto'> | undefined,
): string {
  const configured = mcp ?? publicUrl;
  if (configured !== undefined) return configured.replace(/\/+$/, '');
  const { host, proto } = arrival ?? {};
  return host !== undefined && isLoopback(host) ? `${proto}://${host.toLowerCase()}` : '';
}

/** The address of an MCP server, as its clients are given it. */
export function mcpServerUrl(base: string, slug: string): string {
  return `${base}/${slug}/mcp`;
}

/** Of an agent, with the slash at its end: clients look for the card below the address they are given. */
export function agentServerUrl(base: string, slug: string): string {
  return `${base}/v1/agent/${slug}/`;
}

/** @param host with its port, as in `Host` */
export function isLoopback(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    (isIPv4(name) && name.startsWith('127.'))
  );
}
