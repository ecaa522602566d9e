import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import {
  configCaps,
  forwardedCallerSeal,
  headerPrefixes,
  normaliseScope,
  operations,
  usageStream,
} from '@sluice/contracts';
import { knownChecks } from '@sluice/guardrails';
import { RefusalLog } from '@sluice/jwt';
import {
  createConnectGuard,
  createGuardedFetch,
  createUpstreamPools,
  type GuardedFetch,
  hostAndPort,
  makeHostRules,
  readProxies,
} from '@sluice/outbound';
import { config, usage } from '@sluice/proto-stubs';
import { clientTls, createRpcClient, type RpcClient, type RpcClientOptions } from '@sluice/rpc';
import {
  createLogger,
  createMetrics,
  type Logger,
  logsAt,
  type Metrics,
  type MetricsListener,
  RequestLog,
  serveMetrics,
} from '@sluice/telemetry';
import { createApp } from './app.ts';
import { MemoryCache } from './cache/memory.ts';
import { RedisCache } from './cache/redis.ts';
import { ReplyCache } from './cache/reply-cache.ts';
import { ConfigCompiler } from './compiled/config-compiler.ts';
import { PromptCompiler } from './compiled/prompt-compiler.ts';
import { createConfigSource } from './config-sync/create-config-source.ts';
import { Guardrails } from './guardrails/guardrails.ts';
import type { ConfigSource } from './held/config-source.ts';
import { ConfigStore } from './held/config-store.ts';
import { Organisations } from './held/organisations.ts';
import { Snapshot } from './held/snapshot/snapshot.ts';
import { createReadArrival } from './http/arrival.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { SlowBodies } from './http/slow-bodies.ts';
import { TokenKeys } from './jwt-keys/token-keys.ts';
import { MemoryLimits } from './limits/memory-limits.ts';
import { RedisLimits } from './limits/redis-limits.ts';
import { settleAttempt } from './limits/settle-attempt.ts';
import { createGatewayMetrics, createRoutingMetrics } from './metrics.ts';
import { priceAttempt } from './money/price-attempt.ts';
import { PriceList } from './money/price-list.ts';
import { pipeline } from './pipeline/pipeline.ts';
import { authenticate } from './pipeline/stages/authenticate.ts';
import { enforceLimits } from './pipeline/stages/enforce-limits.ts';
import { findPrompt } from './pipeline/stages/find-prompt.ts';
import { readJsonRequest, readProxyRequest, readRequest } from './pipeline/stages/read-request.ts';
import { recordOutcome } from './pipeline/stages/record-outcome.ts';
import { answerRendered, renderRequest } from './pipeline/stages/render-request.ts';
import { resolveConfig } from './pipeline/stages/resolve-config.ts';
import { routeToTarget } from './pipeline/stages/route-to-target.ts';
import { connectRedis } from './redis/connect-redis.ts';
import { readRedisPlace } from './redis/redis-settings.ts';
import { SharedStore } from './redis/shared-store.ts';
import { createAdminForwarder } from './routes/admin.ts';
import { createExplain } from './routes/explain.ts';
import { listOwnModels } from './routes/models.ts';
import { learn } from './routing/learn.ts';
import type { PlanDeps } from './routing/plan-request.ts';
import { CircuitBreakers } from './routing/state/circuit-breakers.ts';
import { HedgeBudget } from './routing/state/hedge-budget.ts';
import { Latencies } from './routing/state/latencies.ts';
import { SharedCircuits } from './routing/state/shared-circuits.ts';
import { StickyChildren } from './routing/state/sticky-children.ts';
import type { Env } from './settings.ts';
import { createAuthoriser } from './upstream-auth/authoriser.ts';
import { createGrpcSink } from './usage/grpc-sink.ts';
import { createNatsSink } from './usage/nats-sink.ts';
import { Outbox } from './usage/outbox.ts';
import { UsagePublisher, type UsageSink } from './usage/publisher.ts';
import { recordAttempt } from './usage/record-attempt.ts';
import { UsageRecorder } from './usage/usage-recorder.ts';
import { createLadder } from './visit/ladder.ts';
import { resolveTarget } from './visit/target/resolve-target.ts';

export interface Gateway {
  app: RequestListener;
  logger: Logger;
  /** In use since `start`; undefined when metrics are switched off. */
  readonly metricsPort: number | undefined;
  start(): Promise<void>;
  /** Requests are over: sends what the outbox holds and lets go of everything. */
  stop(): Promise<void>;
  /** From now on replies close their connection and readiness says no. */
  drain(): void;
}

/** Builds every client once and hands it down. */
export function wire(env: Env): Gateway {
  const prefixes = headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES);
  const logger = createLogger({ service: 'gateway', level: env.LOG_LEVEL });
  const metrics = createMetrics({ app: env.SERVICE_NAME, env: env.NODE_ENV });
  mkdirSync(env.DATA_DIR, { recursive: true, mode: 0o700 });
  // One life of one replica: sequences start at 1 in each.
  const replicaId = `${env.REPLICA_ID ?? keptReplicaId(env.DATA_DIR)}.${randomBytes(4).toString('hex')}`;
  const peer = {
    token: env.SERVICE_CLIENT_AUTH,
    tls: clientTls(env),
    allowInsecure: env.GRPC_ALLOW_INSECURE,
  };

  const redisPlace = readRedisPlace(env);
  const hostRules = makeHostRules({
    trusted: env.TRUSTED_CUSTOM_HOSTS,
    trustedForCallers: env.TRUSTED_CALLER_HOSTS,
    production: env.NODE_ENV === 'production',
    ownHosts: env.OWN_HOSTS ?? [],
    ownParts: [
      hostAndPort(env.HOST, env.PORT),
      hostAndPort(env.HOST, env.METRICS_PORT),
      env.CONTROL_PLANE_URL,
      env.CONTROL_PLANE_GRPC_URL,
      env.DATA_SERVICE_GRPC_URL,
      ...(env.NATS_URL?.split(',') ?? []),
      ...(redisPlace?.addresses.map(({ host, port }) => hostAndPort(host, port)) ?? []),
      env.KUBERNETES_SERVICE_HOST,
    ],
  });
  const proxies = readProxies({
    httpsProxy: env.https_proxy ?? env.HTTPS_PROXY,
    httpProxy: env.http_proxy ?? env.HTTP_PROXY,
    noProxy: env.no_proxy ?? env.NO_PROXY,
  });
  const connecting = {
    rules: hostRules,
    validationsMax: env.OUTBOUND_VALIDATIONS_MAX,
    resolver: env.DNS_RESOLVER,
    dnsServers: env.DNS_SERVERS,
    proxies,
  };
  const source = createConfigSource(
    createRpcClient(config.ConfigService, {
      address: env.CONTROL_PLANE_GRPC_URL,
      ...peer,
    }),
    replicaId,
    3000,
  );
  const jwt = env.JWT_ENABLED
    ? wireTokens(env, source, createGuardedFetch(connecting), logger)
    : undefined;
  const store = new ConfigStore({
    source,
    snapshot: new Snapshot({
      dir: join(env.DATA_DIR, 'held'),
      key: env.SNAPSHOT_KEY,
      releaseBefore: join(env.DATA_DIR, 'snapshot.bin'),
      logger,
    }),
    organisations: jwt?.organisations,
    pepper: env.KEY_PEPPER,
    logger,
  });
  const outbox = new Outbox({ dir: join(env.DATA_DIR, 'outbox'), bytesMax: env.OUTBOX_BYTES_MAX });
  const recorder = new UsageRecorder(outbox, replicaId);
  const prices = new PriceList();
  const publisher = new UsagePublisher({
    outbox,
    sink: createSink(env, replicaId, peer),
    logger,
    batchMax: 500,
    lingerMs: 50,
  });
  const connectStore = () =>
    redisPlace && new SharedStore({ client: connectRedis(redisPlace, logger), logger });
  const shared = connectStore();
  // Large answers must not stand in line before counters.
  const sharedCache = connectStore();
  const limits =
    shared === undefined
      ? new MemoryLimits({
          path: join(env.DATA_DIR, 'limits.json'),
          groupsMax: env.LIMIT_GROUPS_MAX,
        })
      : new RedisLimits({ store: shared, groupsMax: env.LIMIT_GROUPS_MAX });
  const breakers = new CircuitBreakers({
    shared: shared && new SharedCircuits({ store: shared }),
  });
  const latencies = new Latencies();
  const cache = new ReplyCache({
    store:
      sharedCache === undefined
        ? new MemoryCache({ bytesMax: env.CACHE_MEMORY_BYTES_MAX })
        : new RedisCache({ store: sharedCache }),
    objectBytesMax: env.CACHE_OBJECT_BYTES_MAX,
    flightWaitMs: env.CACHE_FLIGHT_WAIT,
  });
  const plan: PlanDeps = {
    breakers,
    latencies,
    sticky: new StickyChildren({ store: shared }),
    estimateCost: (exchange, planned, tokens) =>
      prices.estimate(resolveTarget(exchange, planned), tokens),
  };
  const pools = createUpstreamPools({
    guard: createConnectGuard(connecting),
    connectionsMax: env.UPSTREAM_CONNECTIONS_MAX,
  });
  const readArrival = createReadArrival(env.TRUSTED_PROXIES ?? []);
  const admin = createAdminForwarder({
    controlPlaneUrl: env.CONTROL_PLANE_URL ?? 'http://127.0.0.1:8788',
    prefixes,
    seal: forwardedCallerSeal(env.SERVICE_CLIENT_AUTH),
    held: store,
    readArrival,
    tls: peer.tls,
  });

  const deadlines = {
    requestTimeoutMs: env.REQUEST_TIMEOUT,
    firstByteTimeoutMs: env.STREAM_FIRST_BYTE_TIMEOUT,
    streamIdleTimeoutMs: env.STREAM_IDLE_TIMEOUT,
  };
  const bounds = {
    attemptsMax: env.ATTEMPTS_PER_REQUEST_MAX,
    routingTimeoutMs: env.ROUTING_TIMEOUT,
  };
  const routingMetrics = createRoutingMetrics(metrics);
  const { newer } = store;
  const ladder = createLadder({
    newer,
    hostRules,
    strictParams: env.STRICT_PARAMS,
    guardrails: new Guardrails({ logger }),
    logger,
    cache,
    recorder,
    pools,
    authoriser: createAuthoriser({ pools, hostRules, cloud: env }),
    listeners: [
      learn({ breakers, latencies }, deadlines),
      priceAttempt(prices), // before the record, which says what it cost
      recordAttempt(recorder), // what cannot be noted is not made
      settleAttempt,
    ],
    options: { ...deadlines, replyBytesMax: env.RESPONSE_BODY_BYTES_MAX },
    bounds,
    hedgeBudget: new HedgeBudget(),
    metrics: routingMetrics,
  });
  const route = routeToTarget({ plan, ladder, recorder, bounds, metrics: routingMetrics });
  const configs = new ConfigCompiler({
    caps: {
      ...configCaps,
      rootTargetsMax: env.MAX_ROOT_CONFIG_TARGETS,
      conditionalRootTargetsMax: env.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
      nestedTargetsMax: env.MAX_NESTED_CONFIG_TARGETS,
    },
    knownChecks,
  });
  const findKey = authenticate(store, jwt?.tokens);
  const findConfig = resolveConfig({ blockInlineConfig: env.BLOCK_INLINE_CONFIG, configs, newer });
  const entrance = [
    recordOutcome(recorder, logger), // outermost, so that every outcome is counted once
    findKey,
    enforceLimits(limits), // before anything is read or spent
    findConfig, // saved-only check first, then headers and config
  ];
  const prompts = new PromptCompiler();
  const namedPrompt = findPrompt(prompts, newer);
  const rendered = renderRequest(prompts);

  const requestLog =
    env.LOG_REQUESTS && logsAt(env.LOG_LEVEL, 'info')
      ? new RequestLog({
          service: 'gateway',
          onDropped: (lines) =>
            logger.warn(
              { lines },
              'lines of the request log were dropped: nobody read them in time',
            ),
        })
      : undefined;

  let draining = false;
  let metricsListener: MetricsListener | undefined;
  const app = createApp({
    logger,
    readArrival,
    metrics: createGatewayMetrics(metrics),
    bodyBytesMax: { json: env.REQUEST_BODY_BYTES_MAX, form: env.FORM_BODY_BYTES_MAX },
    slowBodies: new SlowBodies({
      bytesPerSecondMin: env.REQUEST_BODY_RATE_MIN,
      graceMs: env.REQUEST_BODY_GRACE,
      timeoutMs: env.REQUEST_BODY_TIMEOUT,
    }),
    heldBytes: new HeldBytes(env.HELD_BODY_BYTES_MAX),
    headerPrefixes: prefixes,
    requestLog,
    isDraining: () => draining,
    pipelines: {
      unified: pipeline([...entrance, readRequest, route]),
      models: pipeline([...entrance, listOwnModels, route]),
      proxy: pipeline([...entrance, readProxyRequest, route]),
      prompt: pipeline([
        recordOutcome(recorder, logger),
        findKey,
        namedPrompt, // before limits: policies may be about a prompt
        enforceLimits(limits),
        findConfig,
        readJsonRequest,
        rendered, // from here on it is a request like any other
        route,
      ]),
      // Calls no model: it counts against no limit, and leaves no record.
      renderPrompt: pipeline([
        authenticate(store, jwt?.tokens, operations.promptRender.scopes),
        namedPrompt,
        readJsonRequest,
        rendered,
        answerRendered,
      ]),
      explain: createExplain({
        ...deadlines,
        bounds,
        authenticate: findKey,
        limits,
        resolveConfig: findConfig,
        plan,
        ladder,
      }),
    },
    forwardAdmin: admin.forward,
    readiness: () => ({
      ready: store.connected || store.holdsAnything,
      draining,
      controlPlane: store.connected,
    }),
  });
  observeState(metrics, { store, tokens: jwt?.tokens, outbox, publisher, breakers });
  observeSharing(metrics, [shared, sharedCache]);

  return {
    app,
    logger,
    get metricsPort() {
      return metricsListener?.port;
    },
    async start() {
      const lost = outbox.recover((begin) => Buffer.concat([begin, UsageRecorder.lostSuffix()]));
      if (lost > 0)
        logger.warn({ attempts: lost }, 'attempts were cut off by the last end of this gateway');
      for (const { setting, ...dropped } of hostRules.dropped)
        logger.warn(dropped, `an entry of ${setting} is not used`);
      if (env.ENABLE_PROMETHEUS)
        metricsListener = await serveMetrics(metrics, { host: env.HOST, port: env.METRICS_PORT });
      await store.start();
      publisher.start();
      breakers.start();
    },
    async stop() {
      // One part that fails to close must not keep the records of the others from the disk.
      const faults: unknown[] = [];
      for (const close of [
        () => metricsListener?.close(),
        () => pools.close(1000),
        () => admin.close(),
        () => publisher.stop(5000),
        () => breakers.close(),
        () => limits.close(),
        () => Promise.all([shared?.close(), sharedCache?.close()]),
        () => jwt?.close(),
        () => store.stop(),
        () => outbox.close(),
        () => requestLog?.flush(500),
      ])
        try {
          await close();
        } catch (error) {
          faults.push(error);
        }
      if (faults.length > 0) throw new AggregateError(faults, 'parts could not be closed');
    },
    drain() {
      draining = true;
    },
  };
}

/** What it takes to take JWTs as credentials. */
function wireTokens(env: Env, source: ConfigSource, fetch: GuardedFetch, logger: Logger) {
  const listed = env.ORGANISATIONS_TO_SYNC;
  const organisations = new Organisations({ source, fetch, logger, listed: listed ?? [] });
  const refusals = new RefusalLog({
    write: (report) => source.reportRefusedTokens(report),
    onError: (error) => logger.warn({ err: error }, 'refused tokens could not be reported'),
  });
  const defaultScopes = (env.JWT_LOCAL_AUTH_DEFAULT_SCOPES ?? []).map(normaliseScope);
  return {
    organisations,
    tokens: new TokenKeys({ organisations, refusals, listed, defaultScopes }),
    async close(): Promise<void> {
      await Promise.all([refusals.stop(), fetch.close()]);
    },
  };
}

function createSink(
  env: Env,
  replicaId: string,
  peer: Omit<RpcClientOptions, 'address'>,
): UsageSink {
  if (env.NATS_URL !== undefined)
    return createNatsSink({
      addresses: env.NATS_URL,
      replicaId,
      subject: usageStream.subject,
      stream: usageStream,
    });
  const client: RpcClient = createRpcClient(usage.UsageService, {
    address: env.DATA_SERVICE_GRPC_URL,
    ...peer,
  });
  return createGrpcSink(client);
}

/** Kept on disk, so that a replica has the same name after a restart. */
function keptReplicaId(dir: string): string {
  const path = join(dir, 'replica-id');
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    const id = randomBytes(6).toString('hex');
    writeFileSync(path, `${id}\n`, { mode: 0o600 });
    return id;
  }
}

function observeState(
  metrics: Metrics,
  parts: {
    store: ConfigStore;
    tokens: TokenKeys | undefined;
    outbox: Outbox;
    publisher: UsagePublisher;
    breakers: CircuitBreakers;
  },
): void {
  const gauge = (name: string, help: string, read: () => number) => {
    const metric = metrics.gauge(name, help);
    Object.assign(metric, { collect: () => metric.set(read()) });
  };
  gauge('sluice_config_connected', '1 while the control plane is watched', () =>
    Number(parts.store.connected),
  );
  gauge('sluice_config_away_seconds', 'How long the control plane has been away', () =>
    parts.store.connected ? 0 : (Date.now() - parts.store.disconnectedSinceMs) / 1000,
  );
  gauge('sluice_config_keys', 'Keys held', () => parts.store.keyCount);
  gauge(
    'sluice_name_lookups',
    'Unknown names asked of the control plane since start',
    () => parts.store.newer.asked,
  );
  gauge('sluice_config_tokens', 'JWTs held', () => parts.tokens?.size ?? 0);
  gauge('sluice_config_bundles', 'Workspace bundles held', () => parts.store.bundleCount);
  gauge(
    'sluice_key_lookups',
    'Keys asked of the control plane since start',
    () => parts.store.lookups,
  );
  gauge('sluice_outbox_bytes', 'Usage records on disk', () => parts.outbox.pendingBytes);
  gauge('sluice_outbox_failing', '1 while usage records cannot be sent', () =>
    Number(parts.publisher.failing),
  );
  gauge(
    'sluice_circuits_open',
    'Targets left out because their circuit is open or half-open',
    () => parts.breakers.openCount,
  );
}

/** What each part goes on with alone while Redis does not answer. */
const aloneHelp = {
  limits: '1 while limits are counted by each gateway alone',
  circuits: '1 while circuits are counted by each gateway alone',
  sticky: '1 while sticky assignments are remembered by each gateway alone',
  cache: '1 while the shared cache is empty',
};

function observeSharing(metrics: Metrics, stores: readonly (SharedStore | undefined)[]): void {
  for (const [part, help] of Object.entries(aloneHelp)) {
    const metric = metrics.gauge(`sluice_${part}_degraded`, help);
    const isDegraded = () => stores.some((store) => store?.isDegraded(part));
    Object.assign(metric, { collect: () => metric.set(Number(isDegraded())) });
  }
}
