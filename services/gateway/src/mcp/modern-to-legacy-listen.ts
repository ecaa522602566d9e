import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  isObject,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  metaKeys,
  modernVersions,
  readMessage,
  writeSseEvent,
} from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { Access } from './access.ts';
import type { EventRecorder } from './event-recorder.ts';
import { hearStream } from './hear-stream.ts';
import { keepOpen } from './keep-open.ts';
import { noStream } from './legacy-relay.ts';
import type { McpCall } from './mcp-call.ts';
import { listener } from './modern-relay.ts';
import type { OpenMcpStreams } from './open-mcp-streams.ts';
import { type OwnSession, type OwnSessions, sideHeaders } from './own-sessions.ts';
import { ownAnswer } from './own-streams.ts';
import { askServer, failureOf, hasForgotten, statusFault } from './server-reply.ts';
import { type LinkListener, SseLink } from './sse-link.ts';
import type { UpstreamDeps } from './upstream.ts';

export interface LegacyListenDeps extends UpstreamDeps {
  readonly access: Access;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
  readonly sessions: OwnSessions;
}

const [revision = ''] = modernVersions;
const subscriptionsMax = 100;

/** A subscription has a session of its own, whose stream and resources it hears of. */
export async function listenToLegacy(
  call: McpCall,
  asked: McpRequest,
  deps: LegacyListenDeps,
): Promise<void> {
  const { sessions, streams } = deps;
  const recorded = deps.recorder.begin(call, asked, { revision });
  const filter = isObject(asked.params?.notifications) ? asked.params.notifications : {};
  const begin = () => beginHearing(call, asked, filter, deps);
  let heard = await begin().catch((error: unknown) => {
    throw recorded.thrown(failureOf(error, asked, undefined));
  });
  const _meta = { [metaKeys.subscriptionId]: asked.id };
  const tell = (method: string, params: JsonObject) =>
    call.reply.write(
      writeSseEvent(
        Buffer.from(JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta } })),
      ),
    );
  call.reply.openStream();
  const { resourceSubscriptions } = filter;
  const told = {
    ...filter,
    ...(resourceSubscriptions !== undefined && { resourceSubscriptions: heard.honoured }),
  };
  tell('notifications/subscriptions/acknowledged', { notifications: told as JsonObject });
  recorded.succeeded({});
  const ended = streams.open(call, listener(asked));
  const over = new AbortController();
  let lastEventId: string | undefined;
  const hear = (message: McpMessage) => {
    if (message.kind === 'request') {
      const signal = AbortSignal.timeout(deps.timeoutMs);
      sessions.tell(call, heard.session, ownAnswer(message), signal).catch(() => undefined);
    }
    const isTold = message.kind === 'notification' && isWanted(message, filter);
    return !isTold || tell(message.method, message.params ?? {});
  };
  void keepOpen(over.signal, async () => {
    const { link } = heard.session;
    const upstream = link ?? (await openStream(call, heard.session, lastEventId, deps));
    if (upstream === undefined || link?.isClosed === true) {
      // Its server was restarted: what was subscribed to is so no more.
      heard = await begin();
      lastEventId = undefined;
      tellChanges(filter, tell);
      return;
    }
    if (upstream instanceof SseLink) return hearLink(call, upstream, hear);
    await hearStream(call, upstream, (message, id) => {
      lastEventId = id ?? lastEventId;
      return hear(message);
    });
  });
  await new Promise<void>((resolve) => call.reply.onClose(resolve));
  over.abort();
  ended();
  sessions.end(call, heard.session);
}

interface Hearing {
  readonly session: OwnSession;
  /** The resources that its server tells of. */
  readonly honoured: readonly string[];
}

async function beginHearing(
  call: McpCall,
  asked: McpRequest,
  { resourceSubscriptions }: JsonObject,
  { sessions, access, timeoutMs }: LegacyListenDeps,
): Promise<Hearing> {
  const session = await sessions.begin(call, asked);
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  const honoured: string[] = [];
  for (const uri of uris.slice(0, subscriptionsMax)) {
    if (typeof uri !== 'string') continue;
    const id = `sub-${honoured.length}`;
    const subscribe = readMessage(
      Buffer.from(
        JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri } }),
      ),
    ) as McpRequest;
    try {
      access.admit(call, subscribe);
      const signal = AbortSignal.any([call.signal, AbortSignal.timeout(timeoutMs)]);
      const reply = await sessions.ask(call, session, subscribe, signal);
      if (reply.kind === 'response') honoured.push(uri);
    } catch {
      // What may not be read, or is not there, is not honoured, and the acknowledgement says so.
    }
  }
  return { session, honoured };
}

/** Until it has ended. */
function hearLink({ reply }: McpCall, link: SseLink, hear: LinkListener): Promise<void> {
  reply.onDrain(() => link.resume());
  link.listen(hear);
  return new Promise((resolve) =>
    link.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

/** The session's own stream; undefined = its server has forgotten the session. @throws McpFault where it tells nothing by itself */
async function openStream(
  call: McpCall,
  { side }: OwnSession,
  lastEventId: string | undefined,
  deps: UpstreamDeps,
): Promise<UpstreamCall | undefined> {
  const headers = {
    ...sideHeaders(side),
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  };
  const upstream = await askServer(call, 'GET', headers, undefined, call.signal, deps);
  if (upstream.status === 200 && upstream.isEventStream) return upstream;
  if (side.id !== '' && (await hasForgotten(upstream))) return undefined;
  const { status } = upstream;
  upstream.abort(new GatewayError('request.aborted'));
  // One that answers when it is asked, and says nothing else.
  if (status === 405) throw noStream();
  throw statusFault(status);
}

/** What may have changed while nobody heard of it. */
function tellChanges(filter: JsonObject, tell: (method: string, params: JsonObject) => void): void {
  for (const [method, wanted] of Object.entries(listFilters))
    if (filter[wanted] === true) tell(method, {});
}

const listFilters: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
};

function isWanted({ method }: McpNotification, filter: JsonObject): boolean {
  if (method === 'notifications/resources/updated') return true;
  return filter[listFilters[method] ?? ''] === true;
}
