import {
  createGuardedFetch,
  type GuardedFetch,
  type HostRules,
  hostAndPort,
  readHostRules,
  readProxies,
  tellDropped,
} from '@sluice/outbound';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { Env } from '../settings.ts';

/** Where requests of admins may lead, and the one way there. */
export function outboundPart(
  env: Env,
  logger: Logger,
): { hostRules: HostRules; fetch: GuardedFetch; part: Part } {
  const hostRules = readHostRules(env, {
    ownParts: [
      hostAndPort(env.HOST, env.PORT),
      hostAndPort(env.HOST, env.GRPC_PORT),
      hostAndPort(env.HOST, env.METRICS_PORT),
      env.DATA_SERVICE_GRPC_URL,
      env.DATABASE_URL,
    ],
  });
  const fetch = createGuardedFetch({
    rules: hostRules,
    resolver: env.DNS_RESOLVER,
    dnsServers: env.DNS_SERVERS,
    proxies: readProxies({
      httpsProxy: env.HTTPS_PROXY,
      httpProxy: env.HTTP_PROXY,
      noProxy: env.NO_PROXY,
    }),
  });
  const part: Part = {
    name: 'outbound',
    start: () => tellDropped(hostRules, logger),
    stop: () => fetch.close(),
  };
  return { hostRules, fetch, part };
}
