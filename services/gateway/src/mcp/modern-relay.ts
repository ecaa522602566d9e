import type { JsonObject, JsonValue } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import {
  advertiseRelayed,
  isObject,
  McpFault,
  type McpNotification,
  type McpRequest,
  type McpResponse,
  MessageEdit,
  messageBounds,
  metaKeys,
  openState,
  paramHeadersFor,
  privateResult,
  requestHeaders,
  resultReply,
  rpcCodes,
  type Sealer,
  type StateOwner,
  sealState,
  writeSseEvent,
} from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { Abortable } from '../http/caller-gone.ts';
import { type Access, listMsMax } from './access.ts';
import type { AskPage, DefinitionLister } from './definition-lister.ts';
import type { Eras } from './eras.ts';
import type { EventRecorder, RecordedEvent } from './event-recorder.ts';
import { withMessage, withoutMessage } from './events.ts';
import { type Entered, enter } from './guards/enter.ts';
import { tellJudged } from './guards/tell-judged.ts';
import type { ToolGuard } from './guards/tool-guard.ts';
import type { ToolGuards } from './guards/tool-guards.ts';
import type { McpCall } from './mcp-call.ts';
import type { Listener, OpenMcpStreams } from './open-mcp-streams.ts';
import {
  answerIn,
  askServer,
  failureOf,
  invalidReply,
  pipeEvents,
  readAnswer,
  readReply,
  type ServerReply,
  smallBodyMax,
  tellFailure,
} from './server-reply.ts';
import { CallDeadline, timesOf, type UpstreamDeps } from './upstream.ts';

export interface ModernRelayDeps extends UpstreamDeps {
  readonly sealer: Sealer;
  readonly access: Access;
  readonly guards: ToolGuards;
  readonly lister: DefinitionLister;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
  readonly eras: Eras;
}

/** People answer what they are asked within so long, or are asked again. */
export const stateMs = 15 * 60_000;

/**
 * Clients and servers of 2026-07-28: each request stands alone, and may go to
 * any gateway. What a server wants to know is asked for in its answer, and what
 * it wants to be told again is sealed for whom it asked.
 */
export class ModernRelay {
  readonly #deps: ModernRelayDeps;

  constructor(deps: ModernRelayDeps) {
    this.#deps = deps;
  }

  async request(call: McpCall, asked: McpRequest, version: string): Promise<void> {
    const recorded = this.#deps.recorder.begin(call, asked, { revision: version });
    const isListening = asked.method === 'subscriptions/listen';
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      await this.#seen(call, asked, version);
      const own = this.#withOwnState(call, asked);
      const entered = await enter(call, own, recorded, true, this.#deps);
      const { guard } = entered;
      const upstream = await this.#send(call, asked.method, entered, version, deadline.signal);
      if (isListening) deadline.lift();
      if (upstream.isEventStream && upstream.status === 200)
        await this.#passStream(call, upstream, asked, deadline, recorded, guard);
      else await this.#passBody(call, upstream, asked, recorded, guard);
    } catch (error) {
      const failure = recorded.thrown(failureOf(error, asked, deadline));
      tellFailure(call, asked, failure);
    } finally {
      deadline.stop();
    }
  }

  /** What is decided by definitions is decided by the server's own of now. */
  #seen(call: McpCall, asked: McpRequest, version: string): Promise<void> | undefined {
    const { lister, timeoutMs } = this.#deps;
    const ask: AskPage = async (page, signal) => {
      const edit = new MessageEdit(page);
      for (const name of ofWhoAsks) {
        const value = asked.meta?.[name];
        if (value !== undefined) edit.setMeta(name, value);
      }
      const headers = requestHeaders(page.method, page.params, version);
      const upstream = await askServer(call, 'POST', headers, edit.bytes(), signal, this.#deps);
      return readAnswer(upstream, page);
    };
    return lister.require(call, asked, identityOf(call), timeoutMs, ask, 'own');
  }

  /** What a client tells by itself. */
  async tell(call: McpCall, told: McpNotification, version: string): Promise<void> {
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      const headers = requestHeaders(told.method, told.params, version);
      const { signal } = deadline;
      const upstream = await askServer(call, 'POST', headers, told.bytes, signal, this.#deps);
      await upstream.readAll(smallBodyMax);
      call.reply.empty(202);
    } catch (error) {
      throw failureOf(error, undefined, deadline);
    } finally {
      deadline.stop();
    }
  }

  #send(
    call: McpCall,
    method: string,
    { bytes, params, guard, marks }: Entered,
    version: string,
    signal: Abortable,
  ): Promise<UpstreamCall> {
    const headers: Record<string, string> = requestHeaders(method, params, version);
    for (const [name, value] of Object.entries(call.exchange.arrival.headers))
      if (name.startsWith('mcp-param-') && value !== undefined) {
        const sent = String(value);
        headers[name] = guard === undefined ? sent : guard.header(sent);
      }
    // What admins fixed is not what the caller's headers say.
    for (const { name } of marks.own) delete headers[`mcp-param-${name.toLowerCase()}`];
    Object.assign(headers, paramHeadersFor(marks.own, params?.arguments));
    return askServer(call, 'POST', headers, bytes, signal, this.#deps);
  }

  /** The state that the server gave out, in place of ours. @throws McpFault where it is none of this caller's, for this */
  #withOwnState(call: McpCall, asked: McpRequest): McpRequest {
    const sent = asked.params?.requestState;
    if (sent === undefined) return asked;
    const state =
      typeof sent === 'string'
        ? openState(this.#deps.sealer, ownerOf(call, asked), sent, Date.now())
        : undefined;
    if (state === undefined)
      throw new McpFault({
        status: 400,
        code: rpcCodes.invalidParams,
        message: 'params.requestState is not one that was given to you for this request.',
        idText: asked.idText,
      });
    return { ...asked, bytes: new MessageEdit(asked).setParam('requestState', state).bytes() };
  }

  async #passBody(
    call: McpCall,
    upstream: UpstreamCall,
    asked: McpRequest,
    recorded: RecordedEvent,
    guard: ToolGuard | undefined,
  ): Promise<void> {
    const body = await upstream.readAll(messageBounds.upstream.bytesMax);
    const { access } = this.#deps;
    const came = readReply(upstream, body, asked, (bytes) => access.read(call, asked, bytes));
    if (hasNoSubscriptions(asked, came)) return this.#listenAlone(call, asked, recorded);
    const reply = guard === undefined ? came : await guard.after(came, recorded);
    const isRefusal = reply.kind === 'error' && refusalStatuses.has(upstream.status);
    // As servers of the older era answer who has no session.
    if (reply.kind === 'error' && reply.error.code === rpcCodes.refused)
      this.#deps.eras.forget(call);
    call.reply.body(isRefusal ? upstream.status : 200, this.#shown(call, asked, reply, recorded));
  }

  async #passStream(
    call: McpCall,
    upstream: UpstreamCall,
    asked: McpRequest,
    deadline: CallDeadline,
    recorded: RecordedEvent,
    guard: ToolGuard | undefined,
  ): Promise<void> {
    call.reply.openStream();
    const isListening = asked.method === 'subscriptions/listen';
    const ended = this.#deps.streams.open(call, isListening ? listener(asked) : undefined);
    let isAnswered = false;
    let judging: Promise<void> | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        call.reply.onClose(resolve);
        pipeEvents(call, upstream, {
          awaited: asked,
          event: (came, message) => {
            if (message === undefined) return came.bytes;
            if (message.kind === 'notification') {
              if (message.method === 'notifications/progress') deadline.progress();
              return isListening && message.method === acknowledged
                ? withMessage(came, honouredAlso(asked, message))
                : came.bytes;
            }
            if (message.kind === 'request') return came.bytes;
            const told = answerIn(came, message, asked);
            if (told === undefined) return withoutMessage(came);
            const { answer, event } = told;
            isAnswered = true;
            if (guard !== undefined) {
              judging = tellJudged(call, asked, event, answer, {
                guard,
                recorded,
                show: (reply) => this.#shown(call, asked, reply, recorded),
              });
              return nothing;
            }
            const shown = this.#shown(call, asked, answer, recorded);
            return shown === answer.bytes ? event.bytes : withMessage(event, shown);
          },
          end: resolve,
          fail: reject,
        });
      });
    } catch (error) {
      if (!isAnswered) throw error;
    } finally {
      ended();
    }
    if (!isAnswered && !call.reply.isOver)
      throw invalidReply(asked, 'its stream ended without the answer');
    if (!isAnswered) recorded.interrupted();
    await judging;
    call.reply.endStream();
  }

  /** At a server that tells of no changes: the subscription hears of those that are made here. */
  async #listenAlone(call: McpCall, asked: McpRequest, recorded: RecordedEvent): Promise<void> {
    const notifications = Object.fromEntries(wantedLists(asked).map((name) => [name, true]));
    const params = { notifications, _meta: { [metaKeys.subscriptionId]: asked.id } };
    const told = { jsonrpc: '2.0', method: acknowledged, params };
    call.reply.openStream();
    call.reply.write(writeSseEvent(Buffer.from(JSON.stringify(told))));
    recorded.succeeded({});
    const ended = this.#deps.streams.open(call, listener(asked));
    await new Promise<void>((resolve) => call.reply.onClose(resolve));
    ended();
  }

  /** An answer as its caller may see it. */
  #shown(call: McpCall, asked: McpRequest, reply: ServerReply, recorded: RecordedEvent): Buffer {
    if (reply.kind === 'error') {
      recorded.failed(reply.error.code, reply.bytes);
      return reply.bytes;
    }
    const shown = this.#changed(call, asked, reply);
    // A list that is none is no success: what throws is recorded as that.
    recorded.succeeded(reply.result, reply.bytes);
    return shown;
  }

  #changed(call: McpCall, asked: McpRequest, reply: McpResponse): Buffer {
    if (reply.result.resultType === 'input_required') return this.#sealed(call, asked, reply);
    if (asked.method === 'server/discover' || asked.method === 'resources/read')
      return privately(reply, asked.method === 'server/discover');
    return this.#deps.access.shown(call, asked, reply, true);
  }

  #sealed(call: McpCall, asked: McpRequest, reply: McpResponse): Buffer {
    const { requestState } = reply.result;
    if (requestState === undefined) return reply.bytes;
    const until = Date.now() + stateMs;
    const sealed = sealState(this.#deps.sealer, ownerOf(call, asked), requestState, until);
    return new MessageEdit(reply).setResult('requestState', sealed).bytes();
  }
}

const nothing = Buffer.alloc(0);

/** What a modern server answers with a status of its own. */
const refusalStatuses: ReadonlySet<number> = new Set([400, 404]);

/** Of a request, who asks, and how. */
const ofWhoAsks = [metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo];

/** Whose list a server shows, of callers without sessions. */
export function identityOf({ principal, key }: McpCall): string {
  return `${principal} ${key.source.id}`;
}

export function ownerOf(call: McpCall, { method, params }: McpRequest): StateOwner {
  return { principal: call.principal, server: call.server.source.id, method, params };
}

/** Nobody but who asked may keep it, and not for long. */
function privately(reply: McpResponse, isDiscovery: boolean): Buffer {
  const edit = new JsonEdit(reply.bytes);
  if (isDiscovery) advertiseRelayed(edit, reply.result);
  privateResult(edit, reply.result, listMsMax);
  return edit.bytes();
}

const listChanges = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
} as const;

const acknowledged = 'notifications/subscriptions/acknowledged';

/** The lists of whose changes a subscription wants to hear. */
function wantedLists({ params }: McpRequest): (keyof typeof listChanges)[] {
  const filter = (params?.notifications ?? params?.filter ?? params) as JsonObject | undefined;
  const names = Object.keys(listChanges) as (keyof typeof listChanges)[];
  return names.filter((name) => (filter?.[name] as JsonValue | undefined) === true);
}

function hasNoSubscriptions({ method }: McpRequest, reply: ServerReply): boolean {
  const isListening = method === 'subscriptions/listen';
  return isListening && reply.kind === 'error' && reply.error.code === rpcCodes.methodNotFound;
}

/** What a server acknowledges, and that changes of lists are told whether it tells of its own or not. */
function honouredAlso(asked: McpRequest, told: McpNotification): Buffer {
  const edit = new MessageEdit(told);
  const honoured = told.params?.notifications;
  for (const name of wantedLists(asked))
    if (!isObject(honoured) || honoured[name] !== true)
      edit.setAt(['params', 'notifications', name], 'true');
  return edit.bytes();
}

/** Tells a subscription of what changes here, as it asked to be told. */
export function listener(asked: McpRequest): Listener {
  const { id, idText } = asked;
  const told = wantedLists(asked).map((name) => listChanges[name]);
  const _meta = { [metaKeys.subscriptionId]: id };
  return {
    changed: () =>
      Buffer.concat(
        told.map((kind) =>
          writeSseEvent(
            Buffer.from(
              JSON.stringify({
                jsonrpc: '2.0',
                method: `notifications/${kind}/list_changed`,
                params: { _meta },
              }),
            ),
          ),
        ),
      ),
    goodbye: () => writeSseEvent(resultReply(idText, { resultType: 'complete', _meta })),
  };
}
