import {
  createConnectGuard,
  createUpstreamPools,
  hostAndPort,
  readHostRules,
  readProxies,
  tellDropped,
} from '@sluice/outbound';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import { publicAuthority } from '../cloud-settings.ts';
import type { RedisPlace } from '../redis/redis-settings.ts';
import type { Env } from '../settings.ts';
import { createAuthoriser } from '../upstream-auth/authoriser.ts';

/** Connections that are idle go at once; what still answers gets so long. */
const closeMs = 1000;

/** Which hosts may be called, and how: for providers, and for whoever else is called outside. */
export function upstreamPart(env: Env, redis: RedisPlace | undefined, logger: Logger) {
  const hostRules = readHostRules(env, {
    ownParts: [
      hostAndPort(env.HOST, env.PORT),
      hostAndPort(env.HOST, env.METRICS_PORT),
      hostAndPort(env.HOST, env.GRPC_PORT),
      env.CONTROL_PLANE_URL,
      env.CONTROL_PLANE_GRPC_URL,
      env.DATA_SERVICE_GRPC_URL,
      ...(redis?.addresses.map(({ host, port }) => hostAndPort(host, port)) ?? []),
    ],
    named: identityHosts(env),
  });
  const connecting = {
    rules: hostRules,
    validationsMax: env.OUTBOUND_VALIDATIONS_MAX,
    resolver: env.DNS_RESOLVER,
    dnsServers: env.DNS_SERVERS,
    proxies: readProxies({
      httpsProxy: env.https_proxy ?? env.HTTPS_PROXY,
      httpProxy: env.http_proxy ?? env.HTTP_PROXY,
      noProxy: env.no_proxy ?? env.NO_PROXY,
    }),
  };
  const guard = createConnectGuard(connecting);
  const pools = createUpstreamPools({
    guard,
    connectionsMax: env.UPSTREAM_CONNECTIONS_MAX || undefined,
    connectionsWaitMs: env.UPSTREAM_CONNECTIONS_WAIT,
  });
  const part: Part = {
    name: 'upstream',
    start: () => tellDropped(hostRules, logger),
    gauges: () => [
      {
        name: 'sluice_upstream_connections',
        help: 'Connections that are open to providers, tool servers and agents',
        read: () => pools.load.connections,
      },
      {
        name: 'sluice_upstream_waiting_requests',
        help: 'Requests that wait for a connection to them: to be opened, or to become free',
        read: () => pools.load.waiting,
      },
    ],
    stop: (deadlineMs) => pools.close(Math.min(closeMs, deadlineMs)),
  };
  const authoriser = createAuthoriser({ pools, hostRules, cloud: env });
  return { hostRules, connecting, guard, pools, authoriser, part };
}

/** Where operators have this machine's identity confirmed, when that is not at the vendor's own address. */
function identityHosts(env: Env): string[] {
  const { AWS_ENDPOINT_URL_STS, AWS_ENDPOINT_DOMAIN, AZURE_AUTHORITY_HOST } = env;
  const isPublic = AZURE_AUTHORITY_HOST === publicAuthority;
  return [
    AWS_ENDPOINT_URL_STS,
    AWS_ENDPOINT_DOMAIN,
    isPublic ? undefined : AZURE_AUTHORITY_HOST,
  ].filter((host) => host !== undefined);
}
