import { randomBytes } from 'node:crypto';
import type { JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { JsonEdit, jsonBounds, readJson } from '@sluice/json';
import {
  isObject,
  McpFault,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  MessageEdit,
  messageBounds,
  metaKeys,
  modernVersions,
  openState,
  privateResult,
  readMessage,
  resultReply,
  rpcCodes,
  type Sealer,
  sealState,
  serverCapabilities,
  writeSseEvent,
} from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { Abortable } from '../http/caller-gone.ts';
import { type Access, listMsMax } from './access.ts';
import type { DefinitionLister } from './definition-lister.ts';
import type { EventRecorder, RecordedEvent } from './event-recorder.ts';
import { enter } from './guards/enter.ts';
import type { ToolGuards } from './guards/tool-guards.ts';
import { SessionForgotten } from './link-calls.ts';
import type { Mailbox } from './mailbox.ts';
import type { McpCall } from './mcp-call.ts';
import { identityOf, ownerOf, stateMs } from './modern-relay.ts';
import { listenToLegacy } from './modern-to-legacy-listen.ts';
import { asOlder } from './older-request.ts';
import type { OpenMcpStreams } from './open-mcp-streams.ts';
import { type OwnSession, type OwnSessions, sideHeaders } from './own-sessions.ts';
import { mayAsk, type OngoingCall, OwnStreams, ownAnswer } from './own-streams.ts';
import { Pace } from './pace.ts';
import { boxOf, givenOut, isParkedState, lostBytes, type ParkedState } from './parked-state.ts';
import { ServerMessages } from './server-messages.ts';
import {
  answerOf,
  askServer,
  failureOf,
  hasForgotten,
  invalidReply,
  readAnswer,
  type ServerReply,
  tellFailure,
} from './server-reply.ts';
import { CallDeadline, timesOf, type UpstreamDeps } from './upstream.ts';

export interface ModernToLegacyDeps extends UpstreamDeps {
  readonly sealer: Sealer;
  readonly access: Access;
  readonly guards: ToolGuards;
  readonly lister: DefinitionLister;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
  readonly sessions: OwnSessions;
  readonly mailbox: Mailbox;
  /** This life of this gateway. */
  readonly replicaId: string;
}

/** A call that waits for what its caller is asked. */
const parkedMs = 300_000;
const parkedMax = 1_000;

/** What a call came to, as far as it has. */
type Outcome =
  | { readonly kind: 'answer'; readonly reply: ServerReply }
  | { readonly kind: 'asks'; readonly request: McpRequest };

/** One call at the server. */
interface Running extends OngoingCall {
  /** Another one where its server forgot the first. */
  session: OwnSession;
  /** Of the request, as the server knows it. */
  readonly id: string;
  /** What is told of it apart from its answer is of no use any more. */
  unhear: () => void;
}

/** What the server asks is put into the answer under this name. */
const asked1 = 'asked';

/**
 * Clients of 2026-07-28 at servers of the older era: the gateway has the session,
 * and what a server asks in the middle of a call becomes an answer that asks,
 * while the call is parked. Whoever brings what was asked for may do so at any
 * gateway: it is left for the one that has the call.
 */
export class ModernToLegacy {
  readonly #deps: ModernToLegacyDeps;
  readonly #own: OwnStreams;
  #parked = 0;

  constructor(deps: ModernToLegacyDeps) {
    this.#deps = deps;
    this.#own = new OwnStreams(deps);
  }

  async request(call: McpCall, asked: McpRequest): Promise<void> {
    if (asked.method === 'subscriptions/listen') return listenToLegacy(call, asked, this.#deps);
    const recorded = this.#deps.recorder.begin(call, asked, { revision });
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    const ended = this.#deps.streams.open(call, undefined);
    try {
      const bytes =
        asked.method === 'server/discover'
          ? await this.#discovered(call, asked, deadline.signal, recorded)
          : asked.params?.requestState !== undefined
            ? await this.#goOn(call, asked, deadline, recorded)
            : await this.#run(call, asked, deadline, recorded);
      if (!call.reply.isStreaming) call.reply.body(200, bytes);
      else {
        call.reply.write(writeSseEvent(bytes));
        call.reply.endStream();
      }
    } catch (error) {
      const failure = recorded.thrown(failureOf(error, asked, deadline));
      tellFailure(call, asked, failure);
    } finally {
      ended();
      deadline.stop();
    }
  }

  /** What such a client tells by itself means nothing to a session that is not its own. */
  tell(call: McpCall, _told: McpNotification): Promise<void> {
    call.reply.empty(202);
    return Promise.resolve();
  }

  async #discovered(
    call: McpCall,
    asked: McpRequest,
    signal: Abortable,
    recorded: RecordedEvent,
  ): Promise<Buffer> {
    return this.#deps.sessions.use(call, asked, signal, async ({ hello }) => {
      const { instructions, serverInfo } = hello;
      recorded.succeeded(hello);
      return resultReply(asked.idText, {
        resultType: 'complete',
        supportedVersions: modernVersions,
        capabilities: serverCapabilities(hello.capabilities, isCarried),
        ...(instructions === undefined ? {} : { instructions }),
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [metaKeys.serverInfo]: serverInfo ?? {} },
      });
    });
  }

  async #run(
    call: McpCall,
    asked: McpRequest,
    deadline: CallDeadline,
    recorded: RecordedEvent,
  ): Promise<Buffer> {
    await this.#seen(call, asked);
    const { bytes, guard } = await enter(call, asked, recorded, true, this.#deps);
    const work = new AbortController();
    const leave = () => work.abort(deadline.signal.reason);
    deadline.signal.addEventListener('abort', leave, { once: true });
    return this.#deps.sessions.use(call, asked, deadline.signal, async (first, renew) => {
      const id = `s-${randomBytes(9).toString('base64url')}`;
      const sent = readMessage(asOlder({ ...asked, bytes }, id)) as McpRequest;
      const messages = new ServerMessages();
      const running: Running = { asked, session: first, messages, id, token: id, unhear() {} };
      // From the first byte on: a server that answers with a body says nothing before it is done.
      const onAbort = () => this.#cancel(call, running);
      deadline.signal.addEventListener('abort', onAbort, { once: true });
      let isParked = false;
      try {
        const way = { renew, signal: work.signal };
        if (first.link === undefined) messages.follow(this.#send(call, running, sent, way), sent);
        else messages.await(this.#askOnLink(call, running, sent, way));
        const outcome = await this.#drive(call, asked, running, deadline);
        if (outcome.kind === 'answer') {
          const { reply } = outcome;
          const judged = guard === undefined ? reply : await guard.after(reply, recorded);
          return this.#answer(call, asked, judged, recorded);
        }
        deadline.signal.removeEventListener('abort', leave);
        recorded.succeeded(askedFirst);
        isParked = true;
        return this.#park(call, asked, running, outcome.request);
      } finally {
        deadline.signal.removeEventListener('abort', onAbort);
        if (!isParked) running.unhear();
      }
    });
  }

  /** Sends it; to a session that is begun again where the server has forgotten it. */
  async #send(
    call: McpCall,
    running: Running,
    sent: McpRequest,
    { renew, signal }: { renew: () => Promise<OwnSession>; signal: AbortSignal },
  ): Promise<UpstreamCall> {
    const send = async () => {
      await this.#own.open(call, running.asked, running.session);
      running.unhear();
      running.unhear = this.#own.enter(running.session, running);
      return this.#post(call, running.session, sent.bytes, signal);
    };
    const upstream = await send();
    if (running.session.side.id === '' || !(await hasForgotten(upstream))) return upstream;
    running.session = await renew();
    return send();
  }

  /** The same where the answer, and all that is told before it, comes on the session's link. */
  async #askOnLink(
    call: McpCall,
    running: Running,
    sent: McpRequest,
    { renew, signal }: { renew: () => Promise<OwnSession>; signal: AbortSignal },
  ): Promise<ServerReply> {
    const { messages } = running;
    // What is told of a call whose caller reads slowly is left out: the link is that of others as well.
    const told = (message: McpMessage) => {
      if (!messages.isFull) messages.add(message);
      else if (message.kind === 'request')
        this.#answerSelf(call, running, message).catch(() => undefined);
      return true;
    };
    const ask = async () => {
      await this.#own.open(call, running.asked, running.session);
      running.unhear();
      running.unhear = this.#own.enter(running.session, running);
      return this.#deps.sessions.ask(call, running.session, sent, signal, told);
    };
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof SessionForgotten)) throw error;
      running.session = await renew();
      return ask();
    }
  }

  /** What is decided by definitions is decided by the server's own of now. */
  #seen(call: McpCall, asked: McpRequest): Promise<void> | undefined {
    const { lister, sessions, timeoutMs } = this.#deps;
    return lister.require(call, asked, identityOf(call), timeoutMs, (page, signal) =>
      sessions.use(call, asked, signal, async (first, renew) => {
        if (first.link !== undefined)
          return sessions.ask(call, first, page, signal).catch(async (error: unknown) => {
            if (!(error instanceof SessionForgotten)) throw error;
            return sessions.ask(call, await renew(), page, signal);
          });
        let upstream = await this.#post(call, first, page.bytes, signal);
        if (first.side.id !== '' && (await hasForgotten(upstream)))
          upstream = await this.#post(call, await renew(), page.bytes, signal);
        return readAnswer(upstream, page);
      }),
    );
  }

  /** Reads on until it is answered, or the server asks something that only the caller knows. */
  async #drive(
    call: McpCall,
    asked: McpRequest,
    running: Running,
    deadline: CallDeadline | undefined,
  ): Promise<Outcome> {
    const { messages, id } = running;
    const pace = new Pace(call.reply);
    for (;;) {
      const message = await messages.next();
      if (message === undefined) throw invalidReply(asked, 'its stream ended without the answer');
      if (message.kind === 'notification') {
        if (message.method === 'notifications/progress') deadline?.progress();
        if (deadline !== undefined && !tellOn(call, asked, message))
          await pace.wait(deadline.signal);
        continue;
      }
      if (message.kind === 'request') {
        if (mayAsk(asked, message)) return { kind: 'asks', request: message };
        await this.#answerSelf(call, running, message);
        continue;
      }
      const sent = { id, idText: `"${id}"` };
      const reply = message.id === asked.id ? message : answerOf(sent, message);
      if (reply !== undefined) return { kind: 'answer', reply };
    }
  }

  /** To what no caller is shown. */
  #answerSelf(call: McpCall, { session }: Running, question: McpRequest): Promise<void> {
    const { sessions, timeoutMs } = this.#deps;
    return sessions.tell(call, session, ownAnswer(question), AbortSignal.timeout(timeoutMs));
  }

  #answer(
    call: McpCall,
    asked: McpRequest,
    reply: ServerReply,
    recorded: RecordedEvent | undefined,
  ): Buffer {
    if (reply.kind === 'error') {
      recorded?.failed(reply.error.code, reply.bytes);
      const edit = new MessageEdit(reply).setId(asked.idText);
      // What is not there has another code now.
      if (reply.error.code === noResource)
        edit.setAt(['error', 'code'], `${rpcCodes.invalidParams}`);
      return edit.bytes();
    }
    const shown = this.#deps.access.shown(call, asked, reply, true);
    recorded?.succeeded(reply.result, reply.bytes);
    const edit = new JsonEdit(shown);
    edit.set(['id'], asked.idText);
    edit.set(['result', 'resultType'], '"complete"');
    if (asked.method === 'resources/read') privateResult(edit, reply.result, listMsMax);
    return edit.bytes();
  }

  /** The server's question as an answer, and its call left waiting for what is answered to it. */
  #park(call: McpCall, asked: McpRequest, running: Running, request: McpRequest): Buffer {
    if (this.#parked >= parkedMax) {
      running.unhear();
      this.#cancel(call, running);
      throw new GatewayError('overloaded');
    }
    const handle = randomBytes(15).toString('base64url');
    this.#parked += 1;
    const release = this.#deps.sessions.keep(running.session);
    this.#waitFor(call, asked, running, request, handle)
      .catch(() => this.#cancel(call, running))
      .finally(() => {
        running.unhear();
        release();
        this.#parked -= 1;
      });
    return this.#question(call, asked, request, { handle, at: this.#deps.replicaId, number: 1 });
  }

  #question(call: McpCall, asked: McpRequest, request: McpRequest, state: ParkedState): Buffer {
    const { sealer } = this.#deps;
    const until = Date.now() + Math.min(stateMs, parkedMs);
    return resultReply(asked.idText, {
      resultType: 'input_required',
      inputRequests: { [asked1]: { method: request.method, params: request.params ?? {} } },
      requestState: sealState(sealer, ownerOf(call, asked), state, until),
    });
  }

  async #waitFor(
    call: McpCall,
    asked: McpRequest,
    running: Running,
    first: McpRequest,
    handle: string,
  ): Promise<void> {
    const { mailbox, sessions } = this.#deps;
    let request = first;
    for (let number = 1; ; number++) {
      const letter = await mailbox.take(
        boxOf(call, handle, number, 'in'),
        AbortSignal.timeout(parkedMs),
      );
      const said = readJson(letter, jsonBounds.request) as JsonValue;
      const answer = isObject(said) ? said[asked1] : undefined;
      const told = isObject(answer)
        ? { id: request.id, result: answer }
        : { id: request.id, error: { code: rpcCodes.invalidParams, message: 'No answer.' } };
      const out = boxOf(call, handle, number, 'out');
      let outcome: Outcome;
      try {
        const signal = AbortSignal.timeout(this.#deps.timeoutMs);
        await sessions.tell(call, running.session, told, signal);
        outcome = await this.#drive(call, asked, running, undefined);
      } catch (error) {
        await mailbox.put(out, lostBytes(error, asked));
        throw error;
      }
      if (outcome.kind === 'answer') {
        await mailbox.put(out, outcome.reply.bytes);
        return;
      }
      request = outcome.request;
      await mailbox.put(out, request.bytes);
    }
  }

  /** Brings what was asked for to the call that waits for it. @throws McpFault where the state is none of this caller's */
  async #goOn(
    call: McpCall,
    asked: McpRequest,
    deadline: CallDeadline,
    recorded: RecordedEvent,
  ): Promise<Buffer> {
    const { sealer, mailbox, replicaId } = this.#deps;
    // Rights may have changed since it began.
    await this.#seen(call, asked);
    this.#deps.access.admit(call, asked);
    const sent = asked.params?.requestState;
    const state =
      typeof sent === 'string'
        ? openState(sealer, ownerOf(call, asked), sent, Date.now())
        : undefined;
    if (!isParkedState(state))
      throw new McpFault({
        status: 400,
        code: rpcCodes.invalidParams,
        message: 'params.requestState is not one that was given to you for this request.',
        idText: asked.idText,
      });
    const { handle, at, number } = state;
    if (at !== replicaId && !mailbox.isShared)
      throw new McpFault({
        status: 200,
        code: rpcCodes.internalError,
        message: 'The call waits at another gateway, which this one cannot tell: ask again.',
        idText: asked.idText,
      });
    await recorded.start();
    const responses = Buffer.from(JSON.stringify(asked.params?.inputResponses ?? {}));
    await mailbox.put(boxOf(call, handle, number, 'in'), responses);
    const out = boxOf(call, handle, number, 'out');
    const letter = await mailbox.take(out, deadline.signal);
    // Whoever brings the same again has nothing to wait for.
    void mailbox.put(out, givenOut, parkedMs);
    if (letter.length === 0)
      throw new McpFault({
        status: 400,
        code: rpcCodes.invalidParams,
        message: 'params.requestState was answered before, and what came of it was given out.',
        idText: asked.idText,
      });
    const message = readMessage(letter, messageBounds.upstream);
    if (message.kind !== 'request') {
      const reply = message as ServerReply;
      const guard = this.#deps.guards.of(call, asked, true);
      const judged = guard === undefined ? reply : await guard.after(reply, recorded);
      return this.#answer(call, asked, judged, recorded);
    }
    recorded.succeeded(askedFirst);
    return this.#question(call, asked, message, { handle, at, number: number + 1 });
  }

  async #post(
    call: McpCall,
    { side }: OwnSession,
    bytes: Buffer,
    signal: Abortable,
  ): Promise<UpstreamCall> {
    return askServer(call, 'POST', sideHeaders(side), bytes, signal, this.#deps);
  }

  /** Its caller left, or waited for too long. */
  #cancel(call: McpCall, { session, id, messages }: Running): void {
    messages.leave();
    const params = { requestId: id, reason: 'The caller does not wait for it.' };
    this.#deps.sessions
      .tell(
        call,
        session,
        { method: 'notifications/cancelled', params },
        AbortSignal.timeout(endMs),
      )
      .catch(() => undefined);
  }
}

const [revision = ''] = modernVersions;
const askedFirst = { resultType: 'input_required' };
const noResource = -32002;
const endMs = 5000;

/** Tasks of the older era are another thing than those of the newer one. */
const isCarried = (path: string) => path !== 'tasks';

/** What is told in a call, under the token that its caller chose. False = the caller reads too slowly. */
function tellOn(call: McpCall, asked: McpRequest, message: McpNotification): boolean {
  const { method } = message;
  if (method === 'notifications/progress') {
    if (asked.progressToken === undefined) return true;
    const bytes = new MessageEdit(message).setParam('progressToken', asked.progressToken).bytes();
    call.reply.openStream();
    return call.reply.write(writeSseEvent(bytes));
  }
  if (method === 'notifications/message') {
    // A request that names no level wants to hear nothing.
    if (asked.meta?.[metaKeys.logLevel] === undefined) return true;
    call.reply.openStream();
    return call.reply.write(writeSseEvent(message.bytes));
  }
  return true;
}
