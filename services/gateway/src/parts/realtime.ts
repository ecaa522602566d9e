import type { ConnectGuard } from '@sluice/outbound';
import type { Part } from '@sluice/service';
import type { AttemptListener } from '../exchange/attempt.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import type { LimitWatchers } from '../limits/request-limits.ts';
import { createSessionPipeline, type SessionEntrance } from '../pipeline/pipelines.ts';
import { type RouteParts, routeToTarget } from '../pipeline/stages/route-to-target.ts';
import { openSession, prepareSession } from '../realtime/open-session.ts';
import { readSessionRequest } from '../realtime/read-session-request.ts';
import { serveSessions } from '../realtime/serve-sessions.ts';
import { Sessions } from '../realtime/sessions.ts';
import { observe, type ServeDeps } from '../routes/serve.ts';
import type { Env } from '../settings.ts';
import { createSessionLadder, type LadderParts } from '../visit/ladder.ts';

export interface RealtimeParts {
  serving: ServeDeps;
  stages: SessionEntrance;
  routing: RouteParts;
  ladder: LadderParts;
  /** What is done with each event that is paid for, as with any call. */
  accounting: readonly AttemptListener[];
  limits: LimitStore;
  watch: LimitWatchers;
  guard: ConnectGuard;
  store: ConfigStore;
}

/** What is held over a WebSocket. */
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
  );
  const opening = openSession({
    ...ladder,
    sessions,
    guard: parts.guard,
    listeners: parts.accounting,
    limits: parts.limits,
    watch: parts.watch,
    connectTimeoutMs: env.REALTIME_CONNECT_TIMEOUT,
    frameBytesMax: env.REALTIME_FRAME_BYTES_MAX,
    onMetered: (exchange, status, errorCode) =>
      observe(exchange, status, errorCode, {
        ...serving,
        name: exchange.subject.operation.id,
      }),
  });
  const run = createSessionPipeline({
    ...stages,
    readSessionRequest,
    routeSession: routeToTarget({
      ...routing,
      content: undefined,
      ladder: createSessionLadder(ladder, prepareSession(ladder), opening),
    }),
  });
  const serve = serveSessions({
    ...serving,
    run,
    sessions,
    frameBytesMax: env.REALTIME_FRAME_BYTES_MAX,
  });
  const part: Part = {
    name: 'realtime',
    start: () => sessions.start(),
    stop: () => sessions.stop(),
    gauges: () => [
      {
        name: 'sluice_realtime_sessions',
        help: 'Sessions that are open over WebSockets',
        read: () => sessions.size,
      },
    ],
  };
  return { serve, part };
}
