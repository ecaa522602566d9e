import type { GatewayFace } from '@sluice/a2a';

/**
 * Where a redirect of an agent leads, as its caller may follow it: an address
 * below the registered one. Undefined = it leads elsewhere, or nowhere.
 */
export function locationForCaller(
  location: string | string[] | undefined,
  base: Readonly<URL>,
  { registeredUrl, gatewayUrl }: GatewayFace,
): string | undefined {
  if (typeof location !== 'string' || !URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base.href);
  const registered = new URL(registeredUrl);
  const root = registered.pathname.replace(/\/+$/, '');
  if (url.origin !== registered.origin) return undefined;
  if (url.pathname !== root && !url.pathname.startsWith(`${root}/`)) return undefined;
  return `${gatewayUrl}${url.pathname.slice(root.length).replace(/^\/+/, '')}${url.search}`;
}
