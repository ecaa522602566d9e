import { hkdfSync } from 'node:crypto';
import { createSealer } from '@sluice/mcp';
import type { GuardedFetch, HostRules, UpstreamPools } from '@sluice/outbound';
import { callFault } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { ConfigSource } from '../held/config-source.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { Identities } from '../identity/tell-identity.ts';
import { Access } from '../mcp/access.ts';
import { AccessTokens } from '../mcp/access-tokens.ts';
import { type AuthenticateCallerParts, authenticateCaller } from '../mcp/authenticate-caller.ts';
import { DefinitionLister } from '../mcp/definition-lister.ts';
import { Eras } from '../mcp/eras.ts';
import { EventRecorder } from '../mcp/event-recorder.ts';
import { ToolGuards } from '../mcp/guards/tool-guards.ts';
import { IssuerTokens } from '../mcp/issuer-tokens.ts';
import { Issuers } from '../mcp/issuers.ts';
import { LegacyRelay } from '../mcp/legacy-relay.ts';
import { LegacyToModern } from '../mcp/legacy-to-modern.ts';
import { Mailbox } from '../mcp/mailbox.ts';
import type { McpCall } from '../mcp/mcp-call.ts';
import { MergedServer } from '../mcp/merged/merged-server.ts';
import { ModernRelay } from '../mcp/modern-relay.ts';
import { ModernToLegacy } from '../mcp/modern-to-legacy.ts';
import { OpenMcpStreams } from '../mcp/open-mcp-streams.ts';
import { OwnSessions } from '../mcp/own-sessions.ts';
import { SearchedServer } from '../mcp/search/searched-server.ts';
import { SeenDefinitions } from '../mcp/seen-definitions.ts';
import { serveMcp } from '../mcp/serve-mcp.ts';
import { SessionNotes } from '../mcp/session-notes.ts';
import { Sessions } from '../mcp/sessions.ts';
import { SingleServer } from '../mcp/single-server.ts';
import { SseRelay } from '../mcp/sse-relay.ts';
import { SubscribedResources } from '../mcp/subscribed-resources.ts';
import { ToolCaller, type ToolCallerDeps } from '../mcp/tool-caller.ts';
import { UpstreamTokens } from '../mcp/upstream-tokens.ts';
import { UserTokens } from '../mcp/user-tokens.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import type { ServeDeps } from '../routes/serve.ts';
import type { Env } from '../settings.ts';

export interface McpParts {
  serving: ServeDeps;
  letIn: AuthenticateCallerParts['letIn'];
  letInAgain: ToolCallerDeps['letInAgain'];
  store: ConfigStore;
  source: ConfigSource;
  pools: UpstreamPools;
  hostRules: HostRules;
  shared: SharedStore | undefined;
  meter: CallMeter;
  guardrails: Guardrails;
  identities: Identities;
  /** To the issuers of users' tokens. */
  fetch: GuardedFetch;
  /** This life of this gateway. */
  replicaId: string;
}

/** A fault that lasts is told once in so long. */
const faultSilenceMs = 60_000;

/** The relay between MCP clients and servers. */
export function mcpPart(env: Env, parts: McpParts) {
  const { serving, store } = parts;
  const { logger } = serving;
  let faultAt = -faultSilenceMs;
  const seen = new SeenDefinitions({
    report: (report) => parts.source.reportDefinitions(report),
    onFault(err) {
      const now = performance.now();
      if (now - faultAt < faultSilenceMs) return;
      faultAt = now;
      logger.warn(callFault(err), 'what MCP servers list could not be told to the control plane');
    },
  });
  const access = new Access(seen);
  const streams = new OpenMcpStreams({ store, access, isDraining: serving.isDraining });
  const upstream = {
    pools: parts.pools,
    hostRules: parts.hostRules,
    tokens: new UpstreamTokens({ ask: (request) => parts.source.upstreamToken(request) }),
    timeoutMs: env.MCP_REQUEST_TIMEOUT_MS,
  };
  const sealer = createSealer([env.KEY_PEPPER, ...(env.KEY_PEPPER_ALSO ?? [])].map(sealingKey));
  const shared = {
    ...upstream,
    access,
    guards: new ToolGuards(parts.guardrails),
    lister: new DefinitionLister(access),
    recorder: new EventRecorder(parts.meter),
    streams,
  };
  const notes = new SessionNotes(parts.shared);
  const sessions = new Sessions({
    sealer,
    notes,
    replicaId: parts.replicaId,
  });
  const mailbox = new Mailbox(parts.shared);
  const subscribed = new SubscribedResources(notes.shared);
  const sse = new SseRelay({ ...shared, sessions, mailbox });
  const eras = new Eras(upstream);
  const limits = {
    isShared: env.MCP_POOL_ENABLED,
    lifetimeMs: env.MCP_POOL_MAX_LIFETIME_MS,
    idleMs: env.MCP_POOL_MAX_IDLE_MS,
    sessionsMax: env.MCP_POOL_MAX_CONNECTIONS,
  };
  const own = new OwnSessions(upstream, limits, (call) => eras.forget(call));
  const { replicaId } = parts;
  const single = new SingleServer({
    legacy: new LegacyRelay({ ...shared, sessions }),
    sse,
    modern: new ModernRelay({ ...shared, sealer, eras }),
    eras,
    toModern: new LegacyToModern({ ...shared, sealer, sessions, notes, subscribed, mailbox, eras }),
    toLegacy: new ModernToLegacy({ ...shared, sealer, sessions: own, mailbox, replicaId }),
  });
  const userTokens = new UserTokens({ fetch: parts.fetch });
  const entering = { access, userTokens, identities: parts.identities };
  const merged = new MergedServer({
    ...entering,
    single,
    sessions,
    sealer,
    streams,
    hurryMs: env.MCP_MEMBER_TIMEOUT_MS,
  });
  const searchedSingle = new SearchedServer(single, ({ server }) => server.version);
  const searchedMerged = new SearchedServer(merged, (call) => merged.stateOf(call));
  const serverOf = ({ server }: McpCall) => {
    const isSearched = server.source.exposure === 'search';
    if (server.isMerged) return isSearched ? searchedMerged : merged;
    return isSearched ? searchedSingle : single;
  };
  const caller = new ToolCaller({
    ...entering,
    letInAgain: parts.letInAgain,
    serverOf,
    recorder: shared.recorder,
    base: (env.MCP_GATEWAY_BASE_URL ?? env.PUBLIC_URL)?.replace(/\/+$/, ''),
    onFault: (err) => logger.error({ err }, 'a call of a tool failed on our side'),
  });
  const issuers = new Issuers({ ask: (address) => parts.source.issuerServers(address), store });
  const serve = serveMcp({
    recorder: shared.recorder,
    ...serving,
    authenticate: authenticateCaller({
      letIn: parts.letIn,
      store,
      tokens: new AccessTokens({ store }),
      issuers,
      issued: new IssuerTokens({
        store,
        enter: (request) => parts.source.enterByIssuer(request),
        fetch: parts.fetch,
      }),
    }),
    issuers,
    origins: {
      addresses: { mcp: env.MCP_GATEWAY_BASE_URL, public: env.PUBLIC_URL },
      allowed: new Set(env.MCP_ALLOWED_ORIGINS),
    },
    ...entering,
    sessions,
    serverOf,
    sealer,
  });
  const part: Part = {
    name: 'mcp',
    start() {
      streams.start();
      sse.start();
      own.start(env.MCP_POOL_CLEANUP_INTERVAL_MS);
    },
    stop() {
      streams.stop();
      sse.stop();
      own.stop();
      seen.stop();
    },
    gauges: () => [
      ...streams.gauges(),
      {
        name: 'sluice_mcp_pool_sessions',
        help: 'Sessions with MCP servers that the gateway has for callers without any',
        read: () => own.size,
      },
    ],
  };
  return {
    serve,
    access,
    whose: merged.whose.bind(merged),
    caller,
    sealer,
    part,
    shared: notes.shared,
  };
}

/** What all gateways share, made into a key that nothing else is made with. */
function sealingKey(pepper: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', pepper, '', 'sluice mcp sealing 1', 32));
}
