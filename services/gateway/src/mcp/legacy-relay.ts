import {
  McpFault,
  type McpMessage,
  type McpRequest,
  messageBounds,
  readMessage,
  resultReply,
  rpcCodes,
  writeSseEvent,
} from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { Abortable } from '../http/caller-gone.ts';
import type { Access } from './access.ts';
import type { DefinitionLister } from './definition-lister.ts';
import type { EventRecorder, RecordedEvent } from './event-recorder.ts';
import { withMessage, withoutMessage } from './events.ts';
import { enter } from './guards/enter.ts';
import { tellJudged } from './guards/tell-judged.ts';
import type { ToolGuard } from './guards/tool-guard.ts';
import type { ToolGuards } from './guards/tool-guards.ts';
import type { McpCall } from './mcp-call.ts';
import type { Listener, OpenMcpStreams } from './open-mcp-streams.ts';
import {
  answerIn,
  askServer,
  errorIn,
  failureOf,
  hasForgotten,
  invalidReply,
  mayHaveForgotten,
  notTaken,
  pipeEvents,
  readAnswer,
  readReply,
  type ServerReply,
  sessionHeaders,
  smallBodyMax,
  tellFailure,
} from './server-reply.ts';
import type { Session } from './session.ts';
import { type Sessions, type UpstreamSide, unknownSession, withKnownRevision } from './sessions.ts';
import { CallDeadline, ownDeadline, timesOf, type UpstreamDeps } from './upstream.ts';

export interface LegacyRelayDeps extends UpstreamDeps {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly guards: ToolGuards;
  readonly lister: DefinitionLister;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
}

/** A request whose answer is waited for. */
interface Awaiting {
  readonly asked: McpRequest;
  readonly recorded: RecordedEvent;
  /** What looks at the answer; undefined = nothing does. */
  readonly guard: ToolGuard | undefined;
}

/**
 * Clients and servers of the older era, over Streamable HTTP. A client's session
 * owns one of the upstream's: ids of requests, tokens of progress and ids of
 * events are the client's own there, and pass as they are.
 */
export class LegacyRelay {
  readonly #deps: LegacyRelayDeps;
  /** Sessions of upstreams that are being begun again, by the name of ours. */
  readonly #renewals = new Map<string, Promise<UpstreamSide>>();

  constructor(deps: LegacyRelayDeps) {
    this.#deps = deps;
  }

  /**
   * `initialize`: begins the upstream's session, and ours with it.
   * @param otherwise asked where the server refuses: whether it is served in another way
   */
  async begin(
    call: McpCall,
    asked: McpRequest,
    otherwise: () => boolean | Promise<boolean>,
  ): Promise<'refused' | undefined> {
    const recorded = this.#deps.recorder.begin(call, asked);
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      await recorded.start();
      const upstream = await this.#post(call, withKnownRevision(asked), {}, deadline.signal);
      const reply = await readAnswer(upstream, asked);
      if (reply.kind === 'error') {
        if (await otherwise()) return 'refused';
        recorded.failed(reply.error.code);
        call.reply.body(200, reply.bytes);
        return undefined;
      }
      const side = upstream.headers['mcp-session-id'];
      const upstreamId = typeof side === 'string' ? side : '';
      const { id, answer } = this.#deps.sessions.begin(call, asked, reply, upstreamId);
      recorded.succeeded(reply.result);
      call.reply.body(200, answer, { 'mcp-session-id': id });
      return undefined;
    } catch (error) {
      throw recorded.thrown(failureOf(error, asked, deadline));
    } finally {
      deadline.stop();
    }
  }

  /** A request within a session. */
  async request(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    if (asked.method === 'ping') {
      call.reply.body(200, resultReply(asked.idText, {}));
      return;
    }
    const recorded = this.#deps.recorder.begin(call, asked, session);
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      const seeing = this.#seen(call, session, asked);
      if (seeing !== undefined) await seeing;
      const { bytes, guard } = await enter(call, asked, recorded, false, this.#deps);
      const upstream = await this.#ask(call, session, bytes, deadline.signal);
      if (upstream.isEventStream && upstream.status === 200)
        await this.#passStream(call, upstream, asked, deadline, recorded, guard);
      else {
        const body = await upstream.readAll(messageBounds.upstream.bytesMax);
        const passing = this.#passBody(call, upstream, body, { asked, recorded, guard });
        if (passing !== undefined) await passing;
      }
    } catch (error) {
      if (deadline.isOver) this.#cancelUpstream(call, session, asked);
      const failure = recorded.thrown(failureOf(error, asked, deadline));
      tellFailure(call, asked, failure);
    } finally {
      deadline.stop();
    }
  }

  /** What is decided by definitions is decided by the server's own of now. */
  #seen(call: McpCall, session: Session, asked: McpRequest): Promise<void> | undefined {
    const { lister, timeoutMs } = this.#deps;
    return lister.require(call, asked, session.name, timeoutMs, async (page, signal) =>
      readAnswer(await this.#ask(call, session, page.bytes, signal), page),
    );
  }

  /** Sends it; to a session that is begun again where the upstream has forgotten it: then nobody accepted it. */
  async #ask(
    call: McpCall,
    session: Session,
    bytes: Buffer,
    signal: Abortable,
  ): Promise<UpstreamCall> {
    const upstream = await this.#post(call, bytes, sessionHeaders(session), signal);
    if (session.upstreamId === '' || !mayHaveForgotten(upstream)) return upstream;
    if (!(await hasForgotten(upstream))) return upstream;
    const renewed = await this.#renew(call, session);
    return this.#post(
      call,
      bytes,
      sessionHeaders({ upstreamId: renewed.id, revision: renewed.revision }),
      signal,
    );
  }

  /** @throws McpFault 404 where another gateway would not hear of it */
  #renew(call: McpCall, session: Session): Promise<UpstreamSide> {
    if (!this.#deps.sessions.mayRenew(session)) throw unknownSession();
    const running = this.#renewals.get(session.name);
    if (running !== undefined) return running;
    const renewal = this.#beginAgain(call, session).finally(() =>
      this.#renewals.delete(session.name),
    );
    this.#renewals.set(session.name, renewal);
    return renewal;
  }

  async #beginAgain(call: McpCall, session: Session): Promise<UpstreamSide> {
    const asked = readMessage(
      Buffer.from(
        `{"jsonrpc":"2.0","id":"sluice-${session.name}","method":"initialize","params":${session.client}}`,
      ),
    ) as McpRequest;
    // Others wait for it, too: who began it may leave.
    const signal = ownDeadline(timesOf(call.server, this.#deps).timeoutMs);
    const upstream = await this.#post(call, asked.bytes, {}, signal);
    const reply = await readAnswer(upstream, asked);
    const id = upstream.headers['mcp-session-id'];
    // It has none any more, as servers of the newer era: who begins anew is served as it is spoken to.
    if (reply.kind === 'error') throw unknownSession();
    if (typeof id !== 'string')
      throw invalidReply(asked, 'it forgot the session, and begins no other');
    const { protocolVersion } = reply.result;
    const revision = typeof protocolVersion === 'string' ? protocolVersion : session.revision;
    const initialized = await this.#post(
      call,
      Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}'),
      sessionHeaders({ upstreamId: id, revision }),
      signal,
    );
    await initialized.readAll(smallBodyMax);
    const renewed = { id, revision };
    await this.#deps.sessions.renewed(session, renewed);
    return renewed;
  }

  /** A notification, or an answer to what the server asked. */
  async tell(call: McpCall, session: Session, told: McpMessage): Promise<void> {
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      const upstream = await this.#ask(call, session, told.bytes, deadline.signal);
      const body = await upstream.readAll(smallBodyMax);
      if (upstream.status >= 200 && upstream.status < 300) {
        call.reply.empty(202);
        return;
      }
      throw notTaken(upstream.status, errorIn(body));
    } catch (error) {
      throw failureOf(error, undefined, deadline);
    } finally {
      deadline.stop();
    }
  }

  /** What the server says by itself, until either side ends it. */
  async stream(call: McpCall, session: Session, lastEventId: string | undefined): Promise<void> {
    const headers: Record<string, string> = { ...sessionHeaders(session) };
    if (lastEventId !== undefined) headers['last-event-id'] = lastEventId;
    const upstream = await this.#openStream(call, session, headers);
    if (upstream.status !== 200 || !upstream.isEventStream) {
      const body = await upstream.readAll(smallBodyMax);
      // A server that speaks only when it is asked: what changes here is told all the same.
      if (upstream.status === 405) return this.#ownStream(call);
      const said = errorIn(body);
      throw new McpFault({
        status: upstream.status >= 400 && upstream.status < 500 ? upstream.status : 502,
        code: said?.code ?? rpcCodes.refused,
        message: said?.message ?? 'The MCP server opened no stream.',
      });
    }
    call.reply.openStream();
    const ended = this.#deps.streams.open(call, legacyListener);
    return new Promise((resolve) => {
      const end = () => {
        ended();
        call.reply.endStream();
        resolve();
      };
      call.reply.onClose(end);
      pipeEvents(call, upstream, {
        // What is told again may be one: to whom is not known here.
        awaited: 'none',
        event: (event, message) => {
          if (message?.kind !== 'response' && message?.kind !== 'error') return event.bytes;
          const { idText = 'null' } = message;
          const guard = this.#deps.guards.ofReplayed(call, idText);
          if (guard !== undefined) {
            const show = (reply: ServerReply) =>
              reply.kind === 'error' ? reply.bytes : this.#deps.access.shownAgain(call, reply);
            void tellJudged(call, { idText }, event, message, { guard, show });
            return nothing;
          }
          if (message.kind === 'error') return event.bytes;
          // A page of a list that is told again: it is filtered as it was.
          const shown = this.#deps.access.shownAgain(call, message);
          return shown === message.bytes ? event.bytes : withMessage(event, shown);
        },
        end,
        fail: end,
      });
    });
  }

  /** Nothing but what the gateway itself has to tell. */
  async #ownStream(call: McpCall): Promise<void> {
    call.reply.openStream();
    const ended = this.#deps.streams.open(call, legacyListener);
    await new Promise<void>((resolve) => call.reply.onClose(resolve));
    ended();
    call.reply.endStream();
  }

  async #openStream(
    call: McpCall,
    session: Session,
    headers: Record<string, string>,
  ): Promise<UpstreamCall> {
    const open = (more: Record<string, string>) =>
      askServer(call, 'GET', more, undefined, call.signal, this.#deps);
    try {
      let upstream = await open(headers);
      if (session.upstreamId !== '' && (await hasForgotten(upstream))) {
        const { id, revision } = await this.#renew(call, session);
        upstream = await open({ ...sessionHeaders({ upstreamId: id, revision }) });
      }
      // Who comes back at once meets the stream that was just left, which ends as soon as that is heard.
      for (const waitMs of staleStreamWaitsMs) {
        if (upstream.status !== 409) break;
        await upstream.readAll(smallBodyMax);
        await new Promise((resolve) => setTimeout(resolve, waitMs));
        upstream = await open(headers);
      }
      return upstream;
    } catch (error) {
      throw failureOf(error, undefined, undefined);
    }
  }

  /** Ours is over whatever the upstream says. */
  async end(call: McpCall, session: Session): Promise<void> {
    await this.#deps.sessions.end(session);
    if (session.upstreamId !== '') {
      const signal = AbortSignal.timeout(endTimeoutMs);
      const headers = sessionHeaders(session);
      // It forgets the session by itself, if it cannot be told.
      await askServer(call, 'DELETE', headers, undefined, signal, this.#deps)
        .then((upstream) => upstream.readAll(smallBodyMax))
        .catch(() => undefined);
    }
    call.reply.empty(200);
  }

  #post(
    call: McpCall,
    body: Buffer,
    session: Record<string, string>,
    signal: Abortable,
  ): Promise<UpstreamCall> {
    return askServer(call, 'POST', session, body, signal, this.#deps);
  }

  /** Whoever waited has gone: the server need not work on. */
  #cancelUpstream(call: McpCall, session: Session, { idText }: McpRequest): void {
    this.#post(
      call,
      Buffer.from(
        `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${idText},"reason":"timeout"}}`,
      ),
      sessionHeaders(session),
      AbortSignal.timeout(endTimeoutMs),
    )
      .then((upstream) => upstream.readAll(smallBodyMax))
      .catch(() => undefined);
  }

  /** Undefined = nobody had to be waited for. */
  #passBody(
    call: McpCall,
    upstream: UpstreamCall,
    body: Buffer,
    { asked, recorded, guard }: Awaiting,
  ): Promise<void> | undefined {
    const { access } = this.#deps;
    const pass = (reply: ServerReply): void =>
      call.reply.body(200, this.#shown(call, asked, reply, recorded));
    const came = readReply(upstream, body, asked, (bytes) => access.read(call, asked, bytes));
    if (guard !== undefined) return guard.after(came, recorded).then(pass);
    pass(came);
    return undefined;
  }

  /** An answer as its caller may see it. */
  #shown(call: McpCall, asked: McpRequest, reply: ServerReply, recorded: RecordedEvent): Buffer {
    if (reply.kind === 'error') {
      recorded.failed(reply.error.code, reply.bytes);
      return reply.bytes;
    }
    const shown = this.#deps.access.shown(call, asked, reply, false);
    recorded.succeeded(reply.result, reply.bytes);
    return shown;
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
    const ended = this.#deps.streams.open(call, undefined);
    let isAnswered = false;
    let judging: Promise<void> | undefined;
    let isResumable = false;
    try {
      await new Promise<void>((resolve, reject) => {
        pipeEvents(call, upstream, {
          awaited: asked,
          event: (came, message) => {
            const { bytes, id } = came;
            isResumable ||= id !== undefined;
            if (message === undefined) return bytes;
            if (message.kind === 'notification') {
              if (message.method === 'notifications/progress') deadline.progress();
              return bytes;
            }
            if (message.kind === 'request') {
              if (message.method !== 'ping') deadline.hold();
              return bytes;
            }
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
      // Told whole, or to be asked for again where it broke off.
      if (!isAnswered && (!isResumable || deadline.isOver)) throw error;
    } finally {
      ended();
    }
    if (!isAnswered && !isResumable)
      throw invalidReply(asked, 'its stream ended without the answer');
    if (!isAnswered) recorded.interrupted();
    await judging;
    call.reply.endStream();
  }
}

const nothing = Buffer.alloc(0);
const endTimeoutMs = 5000;

const listChanged = Buffer.concat(
  ['tools', 'prompts', 'resources'].map((kind) =>
    writeSseEvent(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${kind}/list_changed"}`)),
  ),
);
/** Tells a session's own stream of what changes here. */
export const legacyListener: Listener = {
  changed: () => listChanged,
  goodbye: () => undefined,
};

const staleStreamWaitsMs = [30, 70, 150];

export function noStream(): McpFault {
  return new McpFault({
    status: 405,
    code: rpcCodes.refused,
    message: 'The MCP server offers no stream of its own.',
  });
}
