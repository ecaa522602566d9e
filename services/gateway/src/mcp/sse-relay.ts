import {
  idKey,
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
import type { EventRecorder } from './event-recorder.ts';
import { enter } from './guards/enter.ts';
import type { ToolGuards } from './guards/tool-guards.ts';
import { legacyListener } from './legacy-relay.ts';
import { askOn, openLink, postTo } from './link-calls.ts';
import type { LetterBox, Mailbox } from './mailbox.ts';
import type { McpCall } from './mcp-call.ts';
import type { OpenMcpStreams } from './open-mcp-streams.ts';
import {
  failureOf,
  invalidReply,
  mayHaveForgotten,
  notTaken,
  type ServerReply,
  statusFault,
  tellFailure,
} from './server-reply.ts';
import type { Session } from './session.ts';
import { type Sessions, unknownSession, withKnownRevision } from './sessions.ts';
import type { SseLink } from './sse-link.ts';
import { CallDeadline, ownDeadline, timesOf, type UpstreamDeps } from './upstream.ts';

export interface SseRelayDeps extends UpstreamDeps {
  readonly sessions: Sessions;
  readonly access: Access;
  readonly guards: ToolGuards;
  readonly lister: DefinitionLister;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
  readonly mailbox: Mailbox;
}

/** A link that nobody uses. */
const idleMs = 300_000;
const sweepMs = 30_000;

/**
 * Servers of 2024-11-05 (HTTP+SSE). Their answers come on one stream for each
 * session, which one gateway holds: what is asked at another is sent to the
 * server from there, and the answer left for it.
 */
export class SseRelay {
  readonly #deps: SseRelayDeps;
  readonly #links = new Map<string, SseLink>();
  readonly #renewals = new Map<string, Promise<SseLink>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: SseRelayDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer = setInterval(() => {
      const before = performance.now() - idleMs;
      for (const link of this.#links.values())
        if (link.isIdle && link.usedAt < before) link.close();
    }, sweepMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const link of [...this.#links.values()]) link.close();
  }

  async begin(call: McpCall, asked: McpRequest): Promise<void> {
    const recorded = this.#deps.recorder.begin(call, asked);
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    let link: SseLink | undefined;
    try {
      await recorded.start();
      const opened = await this.#open(call, deadline.signal);
      link = opened.link;
      const reply = await this.#ask(call, link, asked, withKnownRevision(asked), deadline.signal);
      if (reply.kind === 'error') {
        recorded.failed(reply.error.code);
        link.close();
        call.reply.body(200, reply.bytes);
        return;
      }
      const { session, id, answer } = this.#deps.sessions.begin(call, asked, reply, link.endpoint);
      opened.name(session);
      recorded.succeeded(reply.result);
      call.reply.body(200, answer, { 'mcp-session-id': id });
    } catch (error) {
      link?.close();
      throw recorded.thrown(failureOf(error, asked, deadline));
    } finally {
      deadline.stop();
    }
  }

  async request(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    if (asked.method === 'ping') {
      call.reply.body(200, resultReply(asked.idText, {}));
      return;
    }
    const recorded = this.#deps.recorder.begin(call, asked, session);
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    const ended = this.#deps.streams.open(call, undefined);
    try {
      await this.#seen(call, session, asked);
      const { bytes, guard } = await enter(call, asked, recorded, false, this.#deps);
      const told = (message: McpMessage) => {
        if (message.kind === 'notification' && message.method === 'notifications/progress')
          deadline.progress();
        if (message.kind === 'request' && message.method !== 'ping') deadline.hold();
        call.reply.openStream();
        return call.reply.write(writeSseEvent(message.bytes));
      };
      call.reply.onDrain(() => this.#links.get(session.name)?.resume());
      const came = await this.#exchange(call, session, asked, bytes, told, deadline.signal);
      const reply = guard === undefined ? came : await guard.after(came, recorded);
      const shown =
        reply.kind === 'response'
          ? this.#deps.access.shown(call, asked, reply, false)
          : reply.bytes;
      if (reply.kind === 'error') recorded.failed(reply.error.code, reply.bytes);
      else recorded.succeeded(reply.result, reply.bytes);
      if (!call.reply.isStreaming) call.reply.body(200, shown);
      else {
        call.reply.write(writeSseEvent(shown));
        call.reply.endStream();
      }
    } catch (error) {
      if (deadline.isOver) this.#cancelUpstream(call, session, asked);
      const failure = recorded.thrown(failureOf(error, asked, deadline));
      tellFailure(call, asked, failure);
    } finally {
      ended();
      deadline.stop();
    }
  }

  /** What is decided by definitions is decided by the server's own of now. */
  #seen(call: McpCall, session: Session, asked: McpRequest): Promise<void> | undefined {
    const { lister, timeoutMs } = this.#deps;
    return lister.require(call, asked, session.name, timeoutMs, (page, signal) =>
      this.#exchange(call, session, page, page.bytes, () => true, signal),
    );
  }

  async tell(call: McpCall, session: Session, message: McpMessage): Promise<void> {
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      const sent = await this.#post(call, session.upstreamId, message.bytes, deadline.signal);
      let { status } = sent;
      if (mayHaveForgotten(sent)) {
        const link = await this.#renew(call, session);
        ({ status } = await this.#post(call, link.endpoint, message.bytes, deadline.signal));
      }
      if (status > 299) throw notTaken(status);
      call.reply.empty(202);
    } catch (error) {
      throw failureOf(error, undefined, deadline);
    } finally {
      deadline.stop();
    }
  }

  /** What is told by itself, wherever the link is. */
  async stream(call: McpCall, session: Session): Promise<void> {
    const { mailbox } = this.#deps;
    const held = this.#links.get(session.name);
    const link = held ?? (mailbox.isShared ? undefined : await this.#renew(call, session));
    if (link?.hasListener === true)
      throw new McpFault({
        status: 409,
        code: rpcCodes.refused,
        message: 'Conflict: Only one SSE stream is allowed per session',
      });
    call.reply.openStream();
    const ended = this.#deps.streams.open(call, legacyListener);
    const over = new AbortController();
    const tell = (bytes: Buffer) => call.reply.write(writeSseEvent(bytes));
    call.reply.onDrain(() => link?.resume());
    await new Promise<void>((resolve) => {
      const unheard = link?.listen(({ bytes }) => tell(bytes));
      // What was left for others, too.
      if (mailbox.isShared) mailbox.hear(toldBoxOf(session), tell, over.signal);
      const end = () => {
        over.abort();
        unheard?.();
        ended();
        call.reply.endStream();
        resolve();
      };
      call.reply.onClose(end);
      link?.signal.addEventListener('abort', end, { once: true });
    });
  }

  async end(call: McpCall, session: Session): Promise<void> {
    await this.#deps.sessions.end(session);
    // Its end is what the server hears of it.
    this.#links.get(session.name)?.close();
    call.reply.empty(200);
  }

  /** Sends a request, and waits for its answer where the link is, or for the letter that brings it. */
  async #exchange(
    call: McpCall,
    session: Session,
    asked: McpRequest,
    bytes: Buffer,
    told: (message: McpMessage) => boolean,
    signal: Abortable,
  ): Promise<ServerReply> {
    const link = this.#links.get(session.name);
    if (link !== undefined) return this.#ask(call, link, asked, bytes, signal, told);
    if (this.#deps.mailbox.isShared) {
      const sent = await this.#post(call, session.upstreamId, bytes, signal);
      if (!mayHaveForgotten(sent)) {
        // It may have been accepted all the same: what else it says is no reason to ask again.
        if (sent.status > 299) throw statusFault(sent.status);
        return this.#heardElsewhere(session, asked, told, signal);
      }
    }
    const renewed = await this.#renew(call, session);
    return this.#ask(call, renewed, asked, bytes, signal, told);
  }

  /** The answer, and what is told before it, of a request whose link is at another gateway. */
  async #heardElsewhere(
    session: Session,
    asked: McpRequest,
    told: (message: McpMessage) => boolean,
    signal: Abortable,
  ): Promise<ServerReply> {
    const { mailbox } = this.#deps;
    const over = new AbortController();
    const heard = (letter: Buffer) => told(readMessage(letter, messageBounds.upstream));
    mailbox.hear(toldBoxOf(session), heard, over.signal);
    try {
      const letter = await mailbox.take(boxOf(session, asked.id), signal);
      // What was told before the answer was left before it.
      await mailbox.hearRest(toldBoxOf(session), heard);
      return readMessage(letter, messageBounds.upstream) as ServerReply;
    } finally {
      over.abort();
    }
  }

  #ask(
    call: McpCall,
    link: SseLink,
    asked: McpRequest,
    bytes: Buffer,
    signal: Abortable,
    told?: (message: McpMessage) => boolean,
  ): Promise<ServerReply> {
    return askOn(link, { ...asked, bytes }, { call, signal, told }, this.#deps);
  }

  #post(call: McpCall, path: string, bytes: Buffer, signal: Abortable): Promise<UpstreamCall> {
    return postTo(call, path, bytes, signal, this.#deps);
  }

  #renew(call: McpCall, session: Session): Promise<SseLink> {
    if (!this.#deps.sessions.mayRenew(session)) throw unknownSession();
    const running = this.#renewals.get(session.name);
    if (running !== undefined) return running;
    const renewal = this.#beginAgain(call, session).finally(() =>
      this.#renewals.delete(session.name),
    );
    this.#renewals.set(session.name, renewal);
    return renewal;
  }

  async #beginAgain(call: McpCall, session: Session): Promise<SseLink> {
    const signal = ownDeadline(timesOf(call.server, this.#deps).timeoutMs);
    const { link, name } = await this.#open(call, signal);
    const asked = readMessage(
      Buffer.from(
        `{"jsonrpc":"2.0","id":"sluice-${session.name}","method":"initialize","params":${session.client}}`,
      ),
    ) as McpRequest;
    const reply = await this.#ask(call, link, asked, asked.bytes, signal);
    if (reply.kind === 'error') {
      link.close();
      throw invalidReply(asked, 'it forgot the session, and begins no other');
    }
    const initialized = Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    await this.#post(call, link.endpoint, initialized, signal);
    const { protocolVersion } = reply.result;
    const revision = typeof protocolVersion === 'string' ? protocolVersion : session.revision;
    name(session);
    await this.#deps.sessions.renewed(session, { id: link.endpoint, revision });
    return link;
  }

  async #open(
    call: McpCall,
    signal: Abortable,
  ): Promise<{ link: SseLink; name: (session: Session) => void }> {
    let session: Session | undefined;
    const link = await openLink(call, signal, this.#deps, {
      stray: (message) => session !== undefined && this.#leave(session, message),
      closed: (closed) => {
        if (session !== undefined && this.#links.get(session.name) === closed)
          this.#links.delete(session.name);
      },
    });
    return {
      link,
      name: (named) => {
        session = named;
        this.#links.get(named.name)?.close();
        this.#links.set(named.name, link);
      },
    };
  }

  /** For whoever waits at another gateway, or has left. False = there is no way to others. */
  #leave(session: Session, message: McpMessage): boolean {
    const { mailbox } = this.#deps;
    if (!mailbox.isShared) return false;
    const isAnswer = message.kind === 'response' || message.kind === 'error';
    const left =
      isAnswer && message.id !== undefined
        ? mailbox.put(boxOf(session, message.id), message.bytes)
        : mailbox.append(toldBoxOf(session), message.bytes);
    // The part rests now; who waits is told that it took too long.
    left.catch(() => undefined);
    return true;
  }

  #cancelUpstream(call: McpCall, session: Session, { idText }: McpRequest): void {
    const cancelled = Buffer.from(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${idText},"reason":"timeout"}}`,
    );
    const path = this.#links.get(session.name)?.endpoint ?? session.upstreamId;
    this.#post(call, path, cancelled, AbortSignal.timeout(5000)).catch(() => undefined);
  }
}

function boxOf({ organisationId, name }: Session, id: string | number): LetterBox {
  return { organisationId, name: `${name}:${idKey(id)}` };
}

function toldBoxOf({ organisationId, name }: Session): LetterBox {
  return { organisationId, name: `${name}:told` };
}
