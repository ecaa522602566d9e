import { SealedAddresses } from '@sluice/a2a';
import {
  configCaps,
  forwardedCallerSeal,
  headerPrefixes,
  headerPrefixesBehindGateway,
} from '@sluice/contracts';
import { ofSettings } from '@sluice/env';
import { findProvider, providerIds } from '@sluice/providers';
import { createApp } from '../app.ts';
import { usersOfProvider } from '../documents/configs/named-by.ts';
import { createDownloads } from '../kernel/http/downloads.ts';
import { IdempotencyKeys } from '../kernel/http/idempotency.ts';
import { jsonBody } from '../kernel/http/json-body.ts';
import { createAdminMetrics } from '../kernel/http/metrics.ts';
import { createRecordRefusal } from '../kernel/http/record-refusal.ts';
import { findNamedWorkspace } from '../kernel/tenancy/target-workspace.ts';
import { allOperations, publicOperations } from '../operations.ts';
import type { Env } from '../settings.ts';
import type { Foundations } from './foundations.ts';

/** The admin API over HTTP: every operation with what it needs. */
export function wireAdminApi(env: Env, base: Foundations) {
  const {
    client,
    isOutage,
    logger,
    schema,
    feed,
    vault,
    mintKey,
    priceBook,
    ledger,
    logStore,
    simulator,
    links,
    authenticate,
    tokens,
    whenPassed,
    connections,
    oauth,
    hostRules,
    fetch,
    now,
    metrics,
  } = base;
  let isRetired = false;
  const downloads = createDownloads();
  const app = createApp({
    logsRequests: env.LOG_REQUESTS,
    logger,
    isOutage,
    requestContext: {
      trustedProxies: env.TRUSTED_PROXIES ?? [],
      forwardedCallers: forwardedCallerSeal(env.SERVICE_CLIENT_AUTH, env.SERVICE_CLIENT_AUTH_ALSO),
      isLenient: env.LENIENT_INPUT,
      headerPrefixes: headerPrefixesBehindGateway(
        ofSettings(() => headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES)),
      ),
    },
    publicHeaderPrefix: env.HEADER_PREFIX,
    publicOperations: publicOperations({ mintKey }),
    operations: allOperations({
      client,
      mintKey,
      integrations: {
        vault,
        catalogueId: (name) => findProvider(name)?.id,
        usersOfProvider,
        fetch,
        hostRules,
      },
      catalogue: {
        has: (name) => findProvider(name.toLowerCase()) !== undefined,
        ids: providerIds(),
      },
      authSettings: { vault, hostRules },
      alertSettings: { vault, hostRules },
      ledger,
      logStore,
      logExports: { links, hasStore: logStore !== undefined },
      priceBook,
      configCaps: {
        ...configCaps,
        rootTargetsMax: env.MAX_ROOT_CONFIG_TARGETS,
        conditionalRootTargetsMax: env.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
        nestedTargetsMax: env.MAX_NESTED_CONFIG_TARGETS,
      },
      registries: {
        vault,
        hostRules,
        fetch,
        tokens,
        connections,
        sealedAddresses: new SealedAddresses(env.SERVICE_CLIENT_AUTH),
      },
      simulator,
    }),
    operationParts: {
      client,
      authenticate,
      nameWorkspace: (caller, body, query) => findNamedWorkspace(client, caller, body, query),
      jsonBody: jsonBody({ bytesMax: env.REQUEST_BODY_BYTES_MAX }),
      now,
      recordRefusal: createRecordRefusal({ client, logger }),
      idempotencyKeys: new IdempotencyKeys(client, vault),
      publicUrl: env.PUBLIC_URL?.replace(/\/+$/, ''),
      mcpBaseUrl: env.MCP_GATEWAY_BASE_URL,
      whenPassed,
      downloads,
      observe: createAdminMetrics(metrics),
    },
    priceBook,
    exportFiles: { db: client, links, store: logStore, downloads, now },
    otel: {
      db: client,
      authenticate,
      ledger,
      book: priceBook,
      now,
      bodyBytesMax: env.OTEL_BODY_BYTES_MAX,
    },
    oauth: oauth.routes,
    isServing: () => schema.isReady,
    health: {
      missing: async () => [
        ...(isRetired ? ['draining'] : []),
        ...(schema.fault === undefined ? [] : [schema.fault]),
        ...((await answers(client.$queryRaw`SELECT 1`)) ? [] : ['database']),
        ...(feed.isLive ? [] : ['change-feed']),
      ],
    },
  });

  return {
    app,
    retire() {
      isRetired = true;
    },
  };
}

/** Whether the database answers within two seconds. */
function answers(query: Promise<unknown>): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, 2_000, false);
  query.then(
    () => resolve(true),
    () => resolve(false),
  );
  return promise.finally(() => clearTimeout(timer));
}
