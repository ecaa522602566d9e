import { hkdfSync } from 'node:crypto';
import { isTokenShaped } from '@sluice/jwt';
import { createSealer } from '@sluice/mcp';
import type { ConnectGuard } from '@sluice/outbound';
import type { Part } from '@sluice/service';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { AttemptListener } from '../exchange/prepared-call.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { TokenKeys } from '../jwt-keys/token-keys.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import type { LimitWatchers } from '../limits/request-limits.ts';
import {
  createCallPipelines,
  createSessionPipeline,
  createTakenCallPipeline,
  type SessionEntrance,
  type Stages,
} from '../pipeline/pipelines.ts';
import { authenticate } from '../pipeline/stages/authenticate.ts';
import { type RouteParts, routeToTarget } from '../pipeline/stages/route-to-target.ts';
import { CallHandover } from '../realtime/call-handover.ts';
import { CallRegister } from '../realtime/call-register.ts';
import { createEnterMinted } from '../realtime/enter-minted.ts';
import { mintSecret } from '../realtime/mint-secret.ts';
import { openSession, prepareSession } from '../realtime/open-session.ts';
import { prepareVendorSecret } from '../realtime/pass-secret.ts';
import { readCallRequest } from '../realtime/read-call-request.ts';
import { readSecretRequest } from '../realtime/read-secret-request.ts';
import { readSessionRequest } from '../realtime/read-session-request.ts';
import { serveSessions } from '../realtime/serve-sessions.ts';
import { TalkRoom } from '../realtime/session-talk.ts';
import { Sessions } from '../realtime/sessions.ts';
import { prepareCallRequest, superviseCall, takeCallOver } from '../realtime/supervise-call.ts';
import { enterTaken, takesCallsOver } from '../realtime/taken-call.ts';
import { estimateStretch } from '../realtime/translated-time.ts';
import type { SharedStore } from '../redis/shared-store.ts';
import { observe, type ServeDeps } from '../routes/serve.ts';
import type { Env } from '../settings.ts';
import {
  callProvider,
  createCallLadder,
  createSessionLadder,
  createTakenCallLadder,
  type Ladder,
  type LadderParts,
} from '../visit/ladder.ts';
import { prepareCall } from '../visit/steps/prepare-call.ts';
import { shapeBody } from '../visit/steps/shape-body.ts';

export interface RealtimeParts {
  serving: ServeDeps;
  stages: SessionEntrance & Pick<Stages, 'readProxyRequest'>;
  routing: RouteParts;
  ladder: LadderParts;
  /** What is done with each event that is paid for, as with any call. */
  accounting: readonly AttemptListener[];
  limits: LimitStore;
  watch: LimitWatchers;
  guard: ConnectGuard;
  store: ConfigStore;
  tokens: TokenKeys | undefined;
  shared: SharedStore | undefined;
}

/** What is said in all sessions, for their logs, where bodies are kept. */
const talkBytesMax = 32 * 1024 * 1024;

/** What is held over a WebSocket, and what is heard beside calls. */
export function realtimePart(env: Env, parts: RealtimeParts) {
  const { serving, stages, routing, ladder } = parts;
  const sessions = new Sessions(
    {
      sessionsMax: env.REALTIME_SESSIONS_MAX,
      perWorkspaceMax: env.REALTIME_WORKSPACE_SESSIONS_MAX,
      perKeyMax: env.REALTIME_KEY_SESSIONS_MAX,
      pingMs: env.REALTIME_PING_INTERVAL,
      idleMs: env.REALTIME_IDLE_TIMEOUT,
      lifeMs: env.REALTIME_SESSION_TIMEOUT,
    },
    parts.store,
    async ({ arrival, subject }) => {
      const by = subject.minted?.by;
      const secret = by !== undefined && 'token' in by ? by.token : arrival.caller.serviceKey;
      return secret !== undefined && isTokenShaped(secret)
        ? parts.tokens?.find(secret, arrival)
        : undefined;
    },
  );
  const metering = {
    ...ladder,
    sessions,
    guard: parts.guard,
    listeners: parts.accounting,
    content: routing.content,
    talkRoom: new TalkRoom(talkBytesMax),
    limits: parts.limits,
    watch: parts.watch,
    connectTimeoutMs: env.REALTIME_CONNECT_TIMEOUT,
    frameBytesMax: env.REALTIME_FRAME_BYTES_MAX,
    stretchMs: env.REALTIME_TRANSLATION_STRETCH,
    estimate: estimateStretch(ladder.estimate, env.REALTIME_TRANSLATION_STRETCH),
    onMetered: (exchange: ModelExchange, status: number, errorCode: string) =>
      observe(exchange, status, errorCode, {
        ...serving,
        name: exchange.subject.operation.id,
      }),
  };
  const sealer = createSealer(
    [env.KEY_PEPPER, ...(env.KEY_PEPPER_ALSO ?? [])].map((pepper) =>
      Buffer.from(hkdfSync('sha256', pepper, '', 'sluice realtime secrets 1', 32)),
    ),
  );
  const entering = createEnterMinted(sealer, parts.store, parts.tokens);
  const authenticateForCall = authenticate(parts.store, parts.tokens, undefined, [entering]);
  const routed = (steps: Ladder) =>
    routeToTarget({ ...routing, content: undefined, ladder: steps });
  const run = createSessionPipeline({
    ...stages,
    authenticate: authenticateForCall,
    readSessionRequest,
    routeSession: routed(
      createSessionLadder(ladder, prepareSession(ladder), openSession(metering)),
    ),
  });
  const handover = new CallHandover(new CallRegister(parts.shared), serving.logger);
  const { openStreams, underWay } = serving;
  const supervising = { ...metering, openStreams, underWay, handover, sealer };
  const supervise = superviseCall(supervising);
  takesCallsOver({
    handover,
    sealer,
    run: createTakenCallPipeline({
      ...stages,
      enterTaken: enterTaken(parts.store, parts.tokens),
      routeTaken: routed(createTakenCallLadder(ladder, takeCallOver(supervising))),
    }),
    warn: (error, call_id) =>
      serving.logger.error(
        { err: error, call_id },
        'a call of another gateway cannot be taken over, and is not metered any more',
      ),
  });
  const pipelines = createCallPipelines({
    ...stages,
    authenticateForCall,
    readSecretRequest,
    routeSecret: routed(
      env.REALTIME_VENDOR_SECRETS
        ? createCallLadder(ladder, prepareVendorSecret(ladder), ...callProvider(ladder))
        : createCallLadder(ladder, mintSecret({ ...metering, sealer })),
    ),
    readCallRequest,
    routeCall: routed(
      createCallLadder(ladder, prepareCallRequest(ladder), supervise, ...callProvider(ladder)),
    ),
    routeAccepted: routed(
      createCallLadder(ladder, shapeBody, prepareCall(ladder), supervise, ...callProvider(ladder)),
    ),
  });
  const serve = serveSessions({
    ...serving,
    run,
    sessions,
    frameBytesMax: env.REALTIME_FRAME_BYTES_MAX,
  });
  const part: Part = {
    name: 'realtime',
    start() {
      sessions.start();
      handover.start();
    },
    drain(deadlineMs) {
      handover.drain();
      return sessions.drainCalls(deadlineMs);
    },
    stop() {
      handover.stop();
      return sessions.stop();
    },
    gauges: () => [
      {
        name: 'sluice_realtime_sessions',
        help: 'Sessions that are open over WebSockets',
        read: () => sessions.size,
      },
    ],
  };
  return {
    serve,
    part,
    pipelines: {
      createRealtimeSecret: pipelines.secret,
      createTranslationSecret: pipelines.secret,
      createRealtimeSession: pipelines.secret,
      createTranscriptionSession: pipelines.secret,
      createRealtimeCall: pipelines.call,
      createTranslationCall: pipelines.call,
      acceptRealtimeCall: pipelines.accept,
    },
  };
}
