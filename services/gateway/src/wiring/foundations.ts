import { randomBytes } from 'node:crypto';
import { configCaps, headerPrefixes } from '@sluice/contracts';
import { lockDataDir } from '@sluice/data-dir';
import { ofSettings, writableFolder } from '@sluice/env';
import { knownChecks } from '@sluice/guardrails';
import { expectLogStoreWithin } from '@sluice/object-store';
import { createGuardedFetch, isWithinGap } from '@sluice/outbound';
import { config } from '@sluice/proto-stubs';
import { createRpcClient, TlsFiles } from '@sluice/rpc';
import { createPartnerWatch, type ServiceTools } from '@sluice/service';
import { loadPublicKeys } from '@sluice/signed-files';
import { ConfigCompiler } from '../compiled/config-compiler.ts';
import { createConfigSource } from '../config-sync/create-config-source.ts';
import { Identities } from '../identity/tell-identity.ts';
import { LiveReplicas } from '../limits/live-replicas.ts';
import { loadModelOverrides } from '../load-model-overrides.ts';
import { createGatewayMetrics } from '../metrics.ts';
import { optInLabels } from '../opt-in-labels.ts';
import { OwnerNotes } from '../owners/owner-notes.ts';
import { circuitsPart } from '../parts/circuits.ts';
import { contentPart } from '../parts/content.ts';
import { createCounterClient } from '../parts/counter-client.ts';
import { heldPart } from '../parts/held.ts';
import { ledgerPart } from '../parts/ledger.ts';
import { limitsPart } from '../parts/limits.ts';
import { otlpPart } from '../parts/otlp.ts';
import { ownerLedgerPart } from '../parts/owner-ledger.ts';
import { redisPart } from '../parts/redis.ts';
import { replicaName } from '../parts/replica-name.ts';
import { requestLogPart } from '../parts/request-log.ts';
import { storedPart } from '../parts/stored.ts';
import { tokensPart } from '../parts/tokens.ts';
import { upstreamPart } from '../parts/upstream.ts';
import { workNotesPart } from '../parts/work-notes.ts';
import { resolveConfig } from '../pipeline/stages/resolve-config.ts';
import { keepStringsFast } from '../redis/keep-strings-fast.ts';
import { readRedisPlace } from '../redis/redis-settings.ts';
import type { Env } from '../settings.ts';

/** What a gateway stands on: its folder, its partners, the stores it shares, what it holds of the control plane. */
export async function layFoundations(env: Env, { logger, metrics, logFd }: ServiceTools) {
  keepStringsFast();
  writableFolder('DATA_DIR', env.DATA_DIR, 0o700);
  const folder = await lockDataDir(env.DATA_DIR, { name: 'DATA_DIR' });
  const prefixes = ofSettings(() => headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES));
  // One life of one replica: sequences start at 1 in each.
  const replicaId = `${replicaName(env)}.${randomBytes(4).toString('hex')}`;
  const certificates = new TlsFiles(env);
  const peer = {
    token: env.SERVICE_CLIENT_AUTH,
    tls: certificates.client,
    allowInsecure: env.GRPC_ALLOW_INSECURE,
  };
  const partner = createPartnerWatch({
    role: 'gateway',
    partner: 'control-plane',
    gauge: 'sluice_config_refused',
    logger,
  });
  const controlPlane = createRpcClient(config.ConfigService, {
    address: env.CONTROL_PLANE_GRPC_URL,
    ...peer,
    handshake: partner.handshake,
  });
  const source = createConfigSource(controlPlane, replicaId, 3000);

  const factsKeys = loadPublicKeys('FACTS_PUBLIC_KEY_FILE', env.FACTS_PUBLIC_KEY_FILE);
  const modelOverrides = await loadModelOverrides(env.MODEL_FACTS_FILE, factsKeys);
  const redisPlace = readRedisPlace(env);
  const log = requestLogPart(env, logger, logFd);
  const otlp = otlpPart(env, { replicaId, logger });
  const upstream = upstreamPart(env, redisPlace, logger);
  expectLogStoreWithin(env, (origin) => isWithinGap(origin, upstream.hostRules));
  const content = contentPart(env, logger, otlp.takers);
  const requestMetrics = createGatewayMetrics(metrics, {
    msBuckets: env.PROMETHEUS_HISTOGRAM_BUCKETS,
    secondBuckets: env.PROMETHEUS_HTTP_DURATION_BUCKETS,
    optIn: optInLabels(env),
  });
  const { addUse } = requestMetrics;
  const ledger = ledgerPart(env, { replicaId, peer, logger, follow: otlp.follow, addUse });
  const checksFetch = createGuardedFetch({
    ...upstream.connecting,
    // Each request that a partner keeps waiting has one: others must not wait for theirs behind it.
    connectionsMax: 256,
  });
  const jwt = tokensPart(env, {
    source,
    fetch: env.JWT_ENABLED ? createGuardedFetch(upstream.connecting) : undefined,
    logger,
  });
  const identities = new Identities({ sign: source.signIdentity });
  const replicas = new LiveReplicas();
  const held = heldPart(env, {
    source,
    organisations: jwt.organisations,
    onHeartbeat: ({ gatewayIndex, liveGateways }) => replicas.note(gatewayIndex, liveGateways),
    logger,
  });
  const redis = redisPart(redisPlace, logger);
  const counters = createCounterClient(controlPlane, {
    replicaId,
    shared: redis.shared !== undefined,
  });
  const limits = limitsPart(env, {
    shared: redis.shared,
    replicas,
    sumCounters: counters.sum,
    notes: ledger.notes,
    logger,
  });
  const circuits = circuitsPart(redis.shared);
  const ownerLedger = ownerLedgerPart({
    peer,
    address: env.DATA_SERVICE_GRPC_URL,
    outbox: ledger.notes,
    metrics,
  });
  const owners = new OwnerNotes(redis.shared, ownerLedger.ownerLedger);
  const works = workNotesPart({ controlPlane, metrics, logger });

  const { store } = held;
  const { newer } = store;
  const configs = new ConfigCompiler({
    caps: {
      ...configCaps,
      rootTargetsMax: env.MAX_ROOT_CONFIG_TARGETS,
      conditionalRootTargetsMax: env.MAX_CONDITIONAL_ROOT_CONFIG_TARGETS,
      nestedTargetsMax: env.MAX_NESTED_CONFIG_TARGETS,
    },
    knownChecks,
  });
  const resolvesConfig = resolveConfig({
    strictParams: env.STRICT_PARAMS,
    blockInlineConfig: env.BLOCK_INLINE_CONFIG,
    configs,
    newer,
  });
  const stored = storedPart(env, {
    controlPlane,
    peer,
    prefixes,
    resolvesConfig,
    newer,
    logger,
  });
  return {
    folder,
    prefixes,
    replicaId,
    certificates,
    peer,
    partner,
    source,
    factsKeys,
    modelOverrides,
    redisPlace,
    log,
    otlp,
    upstream,
    content,
    requestMetrics,
    ledger,
    checksFetch,
    jwt,
    identities,
    held,
    redis,
    counters,
    limits,
    circuits,
    ownerLedger,
    owners,
    works,
    resolvesConfig,
    stored,
    logger,
    metrics,
    store,
  };
}

export type Foundations = Awaited<ReturnType<typeof layFoundations>>;
