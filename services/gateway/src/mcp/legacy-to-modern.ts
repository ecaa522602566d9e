import { randomBytes } from 'node:crypto';
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { JsonEdit, jsonBounds, readJsonText } from '@sluice/json';
import {
  idKey,
  isObject,
  McpFault,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  type McpResponse,
  MessageEdit,
  messageBounds,
  metaKeys,
  modernVersions,
  negotiated,
  type ParamHeader,
  paramHeadersFor,
  readMessage,
  requestHeaders,
  resultReply,
  rpcCodes,
  type Sealer,
  serverCapabilities,
  writeSseEvent,
} from '@sluice/mcp';
import type { Access } from './access.ts';
import type { AskPage, DefinitionLister } from './definition-lister.ts';
import { discovery, type Eras, ownName } from './eras.ts';
import type { EventRecorder, RecordedEvent } from './event-recorder.ts';
import { enter } from './guards/enter.ts';
import type { ToolGuards } from './guards/tool-guards.ts';
import { hearStream } from './hear-stream.ts';
import { keepOpen } from './keep-open.ts';
import { legacyListener, noStream } from './legacy-relay.ts';
import type { LetterBox, Mailbox } from './mailbox.ts';
import type { McpCall } from './mcp-call.ts';
import type { OpenMcpStreams } from './open-mcp-streams.ts';
import { Pace } from './pace.ts';
import { ServerMessages } from './server-messages.ts';
import {
  answerOf,
  askServer,
  failureOf,
  hasForgotten,
  invalidReply,
  readAnswer,
  type ServerReply,
  statusFault,
  tellFailure,
} from './server-reply.ts';
import type { Session } from './session.ts';
import type { SessionNotes } from './session-notes.ts';
import { type Sessions, unknownSession } from './sessions.ts';
import type { SubscribedResources } from './subscribed-resources.ts';
import { CallDeadline, timesOf, type UpstreamDeps } from './upstream.ts';

export interface LegacyToModernDeps extends UpstreamDeps {
  readonly sessions: Sessions;
  readonly notes: SessionNotes;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly guards: ToolGuards;
  readonly lister: DefinitionLister;
  readonly recorder: EventRecorder;
  readonly streams: OpenMcpStreams;
  readonly subscribed: SubscribedResources;
  readonly mailbox: Mailbox;
  readonly eras: Eras;
}

/** Marks the sessions that are ours alone: their servers have none. */
const [version = ''] = modernVersions;
const roundsMax = 10;
const askedMax = 20;
/** Ids of questions to clients are sealed, so that any gateway knows what was asked. */
const questionKind = 'question';

/** Whether a session is one of these. */
export function isTranslated({ revision }: Session): boolean {
  return revision === version;
}

/**
 * Clients of the older era at servers of 2026-07-28. The session is ours alone:
 * what its client said of itself goes with each request, and what a server asks
 * for in its answer is asked of the client on the request's own stream.
 */
export class LegacyToModern {
  readonly #deps: LegacyToModernDeps;

  constructor(deps: LegacyToModernDeps) {
    this.#deps = deps;
  }

  async begin(call: McpCall, asked: McpRequest): Promise<void> {
    const recorded = this.#deps.recorder.begin(call, asked);
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    try {
      const { capabilities, clientInfo } = asked.params ?? {};
      const probe = discovery(
        isObject(capabilities) ? capabilities : {},
        isObject(clientInfo) ? clientInfo : ownName,
      );
      const headers = requestHeaders(probe.method, probe.params, version);
      const upstream = await askServer(
        call,
        'POST',
        headers,
        probe.bytes,
        deadline.signal,
        this.#deps,
      );
      const reply = await readAnswer(upstream, probe);
      if (reply.kind === 'error') throw invalidReply(asked, reply.error.message);
      const hello = helloOf(asked, reply);
      const { id } = this.#deps.sessions.begin(
        call,
        asked,
        { ...hello, result: { ...hello.result, protocolVersion: version } },
        '',
      );
      recorded.succeeded(reply.result);
      call.reply.body(200, hello.bytes, { 'mcp-session-id': id });
    } catch (error) {
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
    if (asked.method === 'logging/setLevel') return this.#setLevel(call, session, asked);
    if (asked.method === 'resources/subscribe' || asked.method === 'resources/unsubscribe')
      return this.#subscribe(call, session, asked);
    const recorded = this.#deps.recorder.begin(call, asked, session);
    const deadline = new CallDeadline(timesOf(call.server, this.#deps), call.signal);
    const ended = this.#deps.streams.open(call, undefined);
    const over = new AbortController();
    try {
      await this.#seen(call, session, asked);
      const { bytes, guard, marks } = await enter(call, asked, recorded, false, this.#deps);
      const cancelled = this.#deps.mailbox
        .take(cancelBox(session, asked.id), over.signal)
        .then(() => deadline.end());
      cancelled.catch(() => undefined);
      const came = await this.#rounds(call, session, { ...asked, bytes }, marks.all, deadline);
      const reply = guard === undefined ? came : await guard.after(came, recorded);
      const shown = this.#answer(call, asked, reply, recorded);
      if (!call.reply.isStreaming) call.reply.body(200, shown);
      else {
        call.reply.write(writeSseEvent(shown));
        call.reply.endStream();
      }
    } catch (error) {
      const failure = recorded.thrown(failureOf(error, asked, deadline));
      tellFailure(call, asked, failure);
    } finally {
      over.abort();
      ended();
      deadline.stop();
    }
  }

  /** What is decided by definitions is decided by the server's own of now. */
  #seen(call: McpCall, session: Session, asked: McpRequest): Promise<void> | undefined {
    const { lister, timeoutMs } = this.#deps;
    const ask: AskPage = async (page, signal) => {
      const sent = readMessage(asNewer(page, session, undefined, {})) as McpRequest;
      const headers = requestHeaders(sent.method, sent.params, version);
      const upstream = await askServer(call, 'POST', headers, sent.bytes, signal, this.#deps);
      return readAnswer(upstream, sent);
    };
    return lister.require(call, asked, session.name, timeoutMs, ask, 'all');
  }

  /** An answer to what was asked of the client, or what it tells. */
  async tell(call: Pick<McpCall, 'reply'>, session: Session, message: McpMessage): Promise<void> {
    const { mailbox, sealer } = this.#deps;
    if (message.kind === 'response' || message.kind === 'error') {
      const { id } = message;
      // What nobody asked is kept for nobody: letters may be as large as messages.
      if (typeof id === 'string' && sealer.open(questionKind, id) === session.name)
        await mailbox.put(answerBox(session, id), message.bytes);
    } else if (message.kind === 'notification' && message.method === 'notifications/cancelled') {
      const id = message.params?.requestId;
      if (typeof id === 'string' || typeof id === 'number')
        await mailbox.put(cancelBox(session, id), Buffer.alloc(0));
    }
    call.reply.empty(202);
  }

  /** The session's own stream is a subscription to all changes, and one to the resources that its client named. */
  async stream(call: McpCall, session: Session): Promise<void> {
    call.reply.openStream();
    const ended = this.#deps.streams.open(call, legacyListener);
    const over = new AbortController();
    // What changes here is told whatever becomes of it.
    const signal = AbortSignal.any([over.signal, call.signal]);
    void keepOpen(signal, () => this.#listen(call, listFilter, signal));
    const unwatch = this.#hearResources(call, session, signal);
    await new Promise<void>((resolve) => call.reply.onClose(resolve));
    unwatch();
    over.abort();
    ended();
    call.reply.endStream();
  }

  /** @returns what ends hearing of changes; the signal ends all else */
  #hearResources(call: McpCall, session: Session, over: AbortSignal): () => void {
    const { subscribed } = this.#deps;
    let listening: AbortController | undefined;
    let heard = '';
    const listen = async () => {
      const uris = [...(await subscribed.of(session))].sort();
      const wanted = JSON.stringify(uris);
      if (over.aborted || wanted === heard || (uris.length === 0 && heard === '')) return;
      heard = wanted;
      const last = listening;
      const next = new AbortController();
      listening = next;
      if (uris.length === 0) return last?.abort();
      const signal = AbortSignal.any([over, next.signal]);
      // The one before is heard until this one is: nothing is missed between.
      void keepOpen(signal, () =>
        this.#listen(call, { resourceSubscriptions: uris }, signal, () => last?.abort()),
      ).then(() => last?.abort());
    };
    let running = Promise.resolve();
    const changed = () => {
      running = running.then(listen, listen);
    };
    changed();
    return subscribed.watch(session, changed);
  }

  /** What the server tells of changes, until it ends that. @throws McpFault */
  async #listen(
    call: McpCall,
    notifications: JsonObject,
    signal: AbortSignal,
    opened?: () => void,
  ): Promise<void> {
    const asked = readMessage(
      Buffer.from(
        JSON.stringify({
          jsonrpc: '2.0',
          id: `sluice-listen-${randomBytes(6).toString('base64url')}`,
          method: 'subscriptions/listen',
          params: { notifications, _meta: { ...discovery({}).meta } },
        }),
      ),
    ) as McpRequest;
    const headers = requestHeaders(asked.method, asked.params, version);
    const upstream = await askServer(call, 'POST', headers, asked.bytes, signal, this.#deps);
    if (upstream.status !== 200 || !upstream.isEventStream) {
      const { status } = upstream;
      upstream.abort(new GatewayError('request.aborted'));
      throw status >= 200 && status < 500 && status !== 429 ? noStream() : statusFault(status);
    }
    opened?.();
    await hearStream(call, upstream, (message) => {
      const told = message.kind === 'notification' ? asOlder(message) : undefined;
      return told === undefined || call.reply.write(writeSseEvent(told));
    });
  }

  /** What a server without sessions knows nothing of: its client's subscription to one resource. */
  async #subscribe(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    const { recorder, subscribed } = this.#deps;
    const recorded = recorder.begin(call, asked, session);
    try {
      const { params } = await enter(call, asked, recorded, false, this.#deps);
      const uri = params?.uri;
      if (typeof uri !== 'string' || uri.length > uriLengthMax)
        throw wrongSubscription(
          asked,
          `params.uri must be a text of at most ${uriLengthMax} characters`,
        );
      if (asked.method === 'resources/unsubscribe') await subscribed.remove(session, uri);
      else if (!(await subscribed.add(session, uri)))
        throw wrongSubscription(asked, 'a session may be subscribed to 100 resources at most');
    } catch (error) {
      throw recorded.thrown(failureOf(error, asked, undefined));
    }
    recorded.succeeded({});
    call.reply.body(200, resultReply(asked.idText, {}));
  }

  async end(call: McpCall, session: Session): Promise<void> {
    await this.#deps.sessions.end(session);
    call.reply.empty(200);
  }

  async #setLevel(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    const level = asked.params?.level;
    if (typeof level === 'string') await this.#deps.notes.note(session, { logLevel: level });
    call.reply.body(200, resultReply(asked.idText, {}));
  }

  /** Asks again with what the client answered, as often as the server wants to know more. */
  async #rounds(
    call: McpCall,
    session: Session,
    asked: McpRequest,
    marks: readonly ParamHeader[],
    deadline: CallDeadline,
  ): Promise<ServerReply> {
    const note = await this.#deps.notes.of(session);
    let more: JsonObject = {};
    for (let round = 0; round < roundsMax; round++) {
      const sent = readMessage(asNewer(asked, session, note?.logLevel, more)) as McpRequest;
      const headers = {
        ...requestHeaders(sent.method, sent.params, version),
        ...paramHeadersFor(marks, sent.params?.arguments),
      };
      const upstream = await askServer(
        call,
        'POST',
        headers,
        sent.bytes,
        deadline.signal,
        this.#deps,
      );
      // A server that wants a session has become an older one: who begins anew is served as it speaks now.
      if (await hasForgotten(upstream)) {
        this.#deps.eras.forget(call);
        throw unknownSession();
      }
      const messages = await ServerMessages.of(upstream, sent);
      const reply = await this.#answerIn(call, sent, messages, deadline);
      if (reply.kind === 'error' || reply.result.resultType !== 'input_required') return reply;
      const { inputRequests, requestState } = reply.result;
      const inputResponses = await this.#askClient(call, session, inputRequests, deadline);
      more = {
        inputResponses,
        ...(requestState === undefined ? {} : { requestState }),
      };
    }
    throw invalidReply(asked, `it asked for more than ${roundsMax} times`);
  }

  async #answerIn(
    call: McpCall,
    sent: McpRequest,
    messages: ServerMessages,
    deadline: CallDeadline,
  ): Promise<ServerReply> {
    const pace = new Pace(call.reply);
    for (;;) {
      const message = await messages.next();
      if (message === undefined) throw invalidReply(sent, 'its stream ended without the answer');
      if (message.kind === 'notification') {
        if (message.method === 'notifications/progress') deadline.progress();
        call.reply.openStream();
        if (!call.reply.write(writeSseEvent(message.bytes))) await pace.wait(deadline.signal);
      } else if (message.kind !== 'request') {
        const answer = answerOf(sent, message);
        if (answer !== undefined) return answer;
      }
    }
  }

  /** Each question as a request on this call's stream; the answers come by themselves, at any gateway. */
  async #askClient(
    call: McpCall,
    session: Session,
    inputRequests: JsonValue | undefined,
    deadline: CallDeadline,
  ): Promise<JsonObject> {
    const { mailbox, sealer } = this.#deps;
    const questions = isObject(inputRequests) ? Object.entries(inputRequests) : [];
    call.reply.openStream();
    // People take their time.
    deadline.lift();
    const answers = await Promise.all(
      questions.slice(0, askedMax).map(async ([name, question]) => {
        const { method, params } = isObject(question) ? question : ({} as JsonObject);
        const id = sealer.seal(questionKind, session.name);
        const waiting = mailbox.take(answerBox(session, id), deadline.signal);
        const request = { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
        call.reply.write(writeSseEvent(Buffer.from(JSON.stringify(request))));
        const letter = readMessage(await waiting);
        return [name, letter.kind === 'response' ? letter.result : { action: 'cancel' }] as const;
      }),
    );
    deadline.restart();
    return Object.fromEntries(answers);
  }

  #answer(call: McpCall, asked: McpRequest, reply: ServerReply, recorded: RecordedEvent): Buffer {
    if (reply.kind === 'error') {
      recorded.failed(reply.error.code, reply.bytes);
      return new MessageEdit(reply).setId(asked.idText).bytes();
    }
    const edit = new JsonEdit(this.#deps.access.shown(call, asked, reply, false));
    recorded.succeeded(reply.result, reply.bytes);
    edit.set(['id'], asked.idText);
    for (const member of newerMembers)
      if (reply.result[member] !== undefined) edit.set(['result', member], undefined);
    return edit.bytes();
  }
}

const newerMembers = ['resultType', 'ttlMs', 'cacheScope'];

/** What `initialize` is answered, of what a server says of itself. */
function helloOf(asked: McpRequest, { result, meta }: McpResponse): McpResponse {
  const { version: protocolVersion } = negotiated(asked.params?.protocolVersion);
  const serverInfo = meta?.[metaKeys.serverInfo] ?? { name: 'unknown', version: '0' };
  const { instructions } = result;
  const bytes = resultReply(asked.idText, {
    protocolVersion,
    capabilities: serverCapabilities(result.capabilities, isCarried),
    serverInfo,
    ...(instructions === undefined ? {} : { instructions }),
  });
  return readMessage(bytes, messageBounds.upstream) as McpResponse;
}

/** Tasks of the newer era are another thing. */
const isCarried = (path: string) => path !== 'tasks';

/** A hundred of them are held for a session, as long as it lasts. */
const uriLengthMax = 2_048;

const listFilter = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
};

/** What the older era hears of a change, without the name of a subscription that is ours; undefined = nothing. */
function asOlder({ method, params }: McpNotification): Buffer | undefined {
  if (method.endsWith('/list_changed'))
    return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method }));
  if (method !== 'notifications/resources/updated') return undefined;
  const { _meta, ...told } = params ?? {};
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method, params: told }));
}

function wrongSubscription({ idText }: McpRequest, message: string): McpFault {
  return new McpFault({ status: 200, code: rpcCodes.invalidParams, message, idText });
}

/** The request with what the newer era has with each. */
function asNewer(
  asked: McpRequest,
  { client }: Session,
  logLevel: string | undefined,
  more: JsonObject,
): Buffer {
  const { capabilities, clientInfo } = readJsonText(client, jsonBounds.small) as JsonObject;
  const edit = new MessageEdit(asked)
    .setId(JSON.stringify(`s-${randomBytes(9).toString('base64url')}`))
    .setMeta(metaKeys.protocolVersion, version)
    .setMeta(metaKeys.clientCapabilities, capabilities ?? {})
    .setMeta(metaKeys.clientInfo, clientInfo ?? ownName);
  if (logLevel !== undefined) edit.setMeta(metaKeys.logLevel, logLevel);
  for (const [name, value] of Object.entries(more)) edit.setParam(name, value);
  return edit.bytes();
}

function answerBox({ organisationId, name }: Session, id: string | number): LetterBox {
  return { organisationId, name: `${name}:a:${idKey(id)}` };
}

function cancelBox({ organisationId, name }: Session, id: string | number): LetterBox {
  return { organisationId, name: `${name}:c:${idKey(id)}` };
}
