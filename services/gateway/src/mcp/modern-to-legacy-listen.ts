import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  isObject,
  type McpNotification,
  type McpRequest,
  metaKeys,
  modernVersions,
  readMessage,
  writeSseEvent,
} from '@sluice/mcp';
import type { Access } from './access.ts';
import type { EventRecorder } from './event-recorder.ts';
import { messageOf } from './events.ts';
import type { McpCall } from './mcp-call.ts';
import { listener } from './modern-relay.ts';
import type { OpenMcpStreams } from './open-mcp-streams.ts';
import type { OwnSession, OwnSessions } from './own-sessions.ts';
import { askServer, failureOf, pipeEvents, sessionHeaders } from './server-reply.ts';
import type { UpstreamDeps } from './upstream.ts';

export interface LegacyListenDeps extends UpstreamDeps {
  readonly access: Access;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
  readonly sessions: OwnSessions;
}

const [revision = ''] = modernVersions;
const subscriptionsMax = 100;
const nothing = Buffer.alloc(0);

/** A subscription has a session of its own, whose stream and resources it hears of. */
export async function listenToLegacy(
  call: McpCall,
  asked: McpRequest,
  deps: LegacyListenDeps,
): Promise<void> {
  const { sessions, streams, access } = deps;
  const recorded = deps.recorder.begin(call, asked, { revision });
  const session = await sessions.begin(call, asked).catch((error: unknown) => {
    throw recorded.thrown(failureOf(error, asked, undefined));
  });
  const _meta = { [metaKeys.subscriptionId]: asked.id };
  const filter = isObject(asked.params?.notifications) ? asked.params.notifications : {};
  const uris = Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions : [];
  const honoured: string[] = [];
  for (const uri of uris.slice(0, subscriptionsMax)) {
    if (typeof uri !== 'string') continue;
    const subscribe = {
      id: `sub-${honoured.length}`,
      method: 'resources/subscribe',
      params: { uri },
    };
    try {
      access.admit(
        call,
        readMessage(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...subscribe }))) as McpRequest,
      );
      await sessions.tell(call, session.side, subscribe, call.signal);
      honoured.push(uri);
    } catch {
      // What may not be read, or is not there, is not honoured, and the acknowledgement says so.
    }
  }
  call.reply.openStream();
  const told = { ...filter, ...(uris.length > 0 && { resourceSubscriptions: honoured }) };
  const tell = (method: string, params: JsonObject) =>
    call.reply.write(
      writeSseEvent(
        Buffer.from(JSON.stringify({ jsonrpc: '2.0', method, params: { ...params, _meta } })),
      ),
    );
  tell('notifications/subscriptions/acknowledged', { notifications: told as JsonObject });
  recorded.succeeded({});
  const ended = streams.open(call, listener(asked));
  await new Promise<void>((resolve) => {
    call.reply.onClose(resolve);
    hear(call, session, filter, tell, deps).catch(() => undefined);
  });
  ended();
  sessions.end(call, session.side);
}

/** Passes on what its server tells by itself; one that tells nothing is no fault. */
async function hear(
  call: McpCall,
  { side }: OwnSession,
  filter: JsonObject,
  tell: (method: string, params: JsonObject) => void,
  deps: UpstreamDeps,
): Promise<void> {
  const headers = sessionHeaders({ upstreamId: side.id, revision: side.revision });
  const upstream = await askServer(call, 'GET', headers, undefined, call.signal, deps);
  if (upstream.status !== 200 || !upstream.isEventStream)
    return upstream.abort(new GatewayError('request.aborted'));
  pipeEvents(call, upstream, {
    event: (event) => {
      const message = messageOf(event);
      if (message?.kind === 'notification' && isWanted(message, filter))
        tell(message.method, message.params ?? {});
      return nothing;
    },
    end: () => {},
    fail: () => {},
  });
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
