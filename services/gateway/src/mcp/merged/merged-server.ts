import {
  askedOfMember,
  idKey,
  isObject,
  listKindOf,
  McpFault,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  type MemberName,
  type MemberView,
  mergedCapabilities,
  mergedInstructions,
  metaKeys,
  modernVersions,
  negotiated,
  openMemberId,
  openRequestId,
  openShownUri,
  readMessage,
  resultReply,
  rpcCodes,
  type Sealer,
  subjectFields,
  toMember,
} from '@sluice/mcp';
import { RecentMap } from '../../chain/recent-map.ts';
import type { CallReply } from '../caller-reply.ts';
import { type EnterParts, withCaller } from '../enter-server.ts';
import type { McpCall } from '../mcp-call.ts';
import type { OpenMcpStreams } from '../open-mcp-streams.ts';
import type { ServedServer } from '../served-server.ts';
import type { Session } from '../session.ts';
import type { Sessions } from '../sessions.ts';
import { unserved } from '../unserved.ts';
import { faultOfAll, Gatherer } from './gather.ts';
import { HeardReply } from './heard-reply.ts';
import { type Member, Members, stateOf } from './members.ts';
import { listenToAll } from './merged-listen.ts';
import { invalidParams, MergedLists, taskList, type Way } from './merged-lists.ts';
import { MergedSessions } from './merged-sessions.ts';
import { type RunningCalls, streamOfAll } from './merged-stream.ts';
import { type NamedType, Naming } from './naming.ts';
import { memberView, passTo } from './pass-to.ts';

export interface MergedServerDeps extends EnterParts {
  readonly single: ServedServer;
  readonly sessions: Sessions;
  readonly sealer: Sealer;
  readonly streams: OpenMcpStreams;
  /** Of a call whose caller waits for other members too. */
  readonly hurryMs: number;
}

/** Who asks which merged server. */
type Asking = Pick<McpCall, 'bundle' | 'server' | 'key' | 'principal'>;

/** The member that a request is about. */
interface Place {
  readonly member: Member;
  /** As the member knows it; undefined = it is about nothing of it. */
  readonly subject: string | undefined;
  /** It was asked for by the address that callers are shown. */
  readonly isShown: boolean;
}

const sessionsRunningMax = 10_000;

/**
 * Several servers as one. What is asked of one of them goes to it as if its own caller asked: by the same relay, under its
 * own rights, limits, guardrails and records; what all are asked is joined in their order, without those that fail.
 */
export class MergedServer implements ServedServer {
  readonly #deps: MergedServerDeps;
  readonly #members: Members;
  readonly #gatherer: Gatherer;
  readonly #naming = new Naming();
  readonly #sessions: MergedSessions;
  readonly #lists: MergedLists;
  /** Calls that go on, by session: who has them, for what their caller says of them. */
  readonly #running: RunningCalls = new RecentMap(sessionsRunningMax);

  constructor(deps: MergedServerDeps) {
    this.#deps = deps;
    this.#members = new Members(deps.hurryMs);
    this.#gatherer = new Gatherer(deps.hurryMs);
    this.#sessions = new MergedSessions(deps.sessions, deps.single);
    this.#lists = new MergedLists({
      access: deps.access,
      sealer: deps.sealer,
      members: this.#members,
      gatherer: this.#gatherer,
      naming: this.#naming,
      open: (call) => this.#open(call),
      view: (call, member) => this.#view(call, member),
      calling: (call, member, reply) => this.#calling(call, member, reply, { isHurried: true }),
    });
  }

  async begin(call: McpCall, asked: McpRequest): Promise<void> {
    const { single } = this.#deps;
    const { answers, failed } = await this.#gatherer.all(call, this.#open(call), async (member) => {
      const reply = new HeardReply(call.reply);
      const asking = await this.#calling(call, member, reply, { isHurried: true });
      await single.begin(asking, asked);
      const answer = reply.answerTo(asked);
      if (answer.kind === 'error') throw new McpFault({ status: 200, ...answer.error });
      return { result: answer.result, side: await this.#sessions.begun(asking, reply) };
    });
    if (answers.length === 0) throw faultOfAll(failed, asked);
    const sides = answers.map(({ answer }) => answer.side);
    const id = await this.#sessions.begin(call, asked, sides);
    const hellos = answers.map(({ member, answer: { result } }) => ({
      member: member.slug,
      result,
    }));
    const instructions = mergedInstructions(hellos);
    const hello = resultReply(asked.idText, {
      protocolVersion: negotiated(asked.params?.protocolVersion).version,
      capabilities: mergedCapabilities(hellos),
      serverInfo: infoOf(call),
      ...(instructions === undefined ? {} : { instructions }),
    });
    call.reply.body(200, hello, { 'mcp-session-id': id });
  }

  async request(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    if (asked.method === 'ping') {
      call.reply.body(200, resultReply(asked.idText, {}));
      return;
    }
    if (asked.method === 'logging/setLevel') return this.#setLevel(call, session, asked);
    // A session that another gateway alone knows of is none, whatever is asked in it.
    this.#sessions.sides(session);
    const way: Way = {
      isModern: false,
      send: async (member, request) =>
        this.#deps.single.request(member, await this.#sessions.of(call, session, member), request),
      hearsWarnings: async () => isHeard(await this.#sessions.logLevelOf(session)),
    };
    const kind = listKindOf(asked.method);
    if (kind !== undefined) return this.#lists.list(call, asked, kind, way);
    if (asked.method === 'tasks/list') return this.#lists.list(call, asked, taskList, way);
    return this.#ask(call, asked, way, session.name);
  }

  async tell(call: McpCall, session: Session, message: McpMessage): Promise<void> {
    const members = this.#open(call);
    const { single } = this.#deps;
    const tell = async (member: Member, bytes: Buffer): Promise<void> => {
      const reply = new HeardReply(call.reply);
      const asking = await this.#calling(call, member, reply, { isHurried: true });
      const own = await this.#sessions.known(session, asking);
      if (own !== undefined) await single.tell(asking, own, readMessage(bytes));
    };
    const named = this.#namedIn(session, message);
    const member = members.find(({ slug }) => slug === named?.member);
    if (named !== undefined) {
      if (member !== undefined)
        await tell(member, toMember(message, this.#view(call, member), named.id));
    } else if (message.kind === 'notification') {
      // What is said to all, or of a call that another gateway knows; who has no such call passes over it.
      await this.#gatherer.all(call, members, (each) =>
        tell(each, toMember(message, this.#view(call, each), undefined)),
      );
    }
    call.reply.empty(202);
  }

  stream(call: McpCall, session: Session, lastEventId: string | undefined): Promise<void> {
    this.#sessions.sides(session);
    return streamOfAll(call, session, lastEventId, this.#open(call), {
      single: this.#deps.single,
      sessions: this.#sessions,
      streams: this.#deps.streams,
      sealer: this.#deps.sealer,
      running: this.#running,
      view: (member) => this.#view(call, member),
      calling: (member, reply) => this.#calling(call, member, reply, {}),
    });
  }

  async end(call: McpCall, session: Session): Promise<void> {
    const members = this.#open(call);
    await this.#sessions.end(session);
    this.#running.delete(session.name);
    await this.#gatherer.all(call, members, async (member) => {
      const reply = new HeardReply(call.reply);
      const asking = await this.#calling(call, member, reply, { isHurried: true });
      const own =
        session.upstreamId === '' ? undefined : await this.#sessions.known(session, asking);
      if (own !== undefined) await this.#deps.single.end(asking, own);
    });
    call.reply.empty(200);
  }

  async modern(
    call: McpCall,
    message: McpRequest | McpNotification,
    version: string,
  ): Promise<void> {
    const { single, streams } = this.#deps;
    if (message.kind === 'notification') {
      // What stands alone belongs to no call that goes on.
      call.reply.empty(202);
      return;
    }
    const way: Way = {
      isModern: true,
      send: (member, request) => single.modern(member, request, version),
      hearsWarnings: () => isHeardByRequest(message.meta?.[metaKeys.logLevel]),
    };
    const kind = listKindOf(message.method);
    if (kind !== undefined) return this.#lists.list(call, message, kind, way);
    if (message.method === 'server/discover') return this.#discover(call, message, way);
    if (message.method !== 'subscriptions/listen') return this.#ask(call, message, way, undefined);
    return listenToAll(call, message, this.#open(call), {
      streams,
      gatherer: this.#gatherer,
      view: (member) => this.#view(call, member),
      ask: async (member, request, reply) =>
        way.send(await this.#calling(call, member, reply, {}), request),
      admit: (request) => void this.#deps.access.admit(call, request),
    });
  }

  async #discover(call: McpCall, asked: McpRequest, way: Way): Promise<void> {
    const { answers, failed } = await this.#gatherer.all(call, this.#open(call), async (member) => {
      const reply = new HeardReply(call.reply);
      await way.send(await this.#calling(call, member, reply, { isHurried: true }), asked);
      const answer = reply.answerTo(asked);
      if (answer.kind === 'error') throw new McpFault({ status: 200, ...answer.error });
      return answer.result;
    });
    if (answers.length === 0) throw faultOfAll(failed, asked);
    const hellos = answers.map(({ member, answer }) => ({ member: member.slug, result: answer }));
    const instructions = mergedInstructions(hellos);
    call.reply.body(
      200,
      resultReply(asked.idText, {
        resultType: 'complete',
        supportedVersions: modernVersions,
        capabilities: mergedCapabilities(hellos, (path) => path !== 'tasks'),
        ...(instructions === undefined ? {} : { instructions }),
        ttlMs: 0,
        cacheScope: 'private',
        _meta: { [metaKeys.serverInfo]: infoOf(call) },
      }),
    );
  }

  async #setLevel(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    this.#sessions.sides(session);
    const level = asked.params?.level;
    if (typeof level !== 'string' || !levels.includes(level))
      throw invalidParams(asked, `params.level must be one of ${levels.join(', ')}.`);
    await this.#sessions.setLevel(session, level);
    // Who has no log says so, and need not be told.
    await this.#gatherer.all(call, this.#open(call), async (member) => {
      const reply = new HeardReply(call.reply);
      const asking = await this.#calling(call, member, reply, { isHurried: true });
      const own = await this.#sessions.known(session, asking);
      if (own !== undefined) await this.#deps.single.request(asking, own, asked);
    });
    call.reply.body(200, resultReply(asked.idText, {}));
  }

  /** Members that this caller may ask at all. */
  #open(call: Asking): Member[] {
    const { access } = this.#deps;
    return this.#members
      .of(call.bundle, call.server)
      .filter(
        ({ server }) => server.policyIsUnread || access.denyServer(server, call.key) === undefined,
      );
  }

  #view(call: Asking, { slug }: Member): MemberView {
    return memberView(
      call,
      slug,
      this.#members.of(call.bundle, call.server).length,
      this.#deps.sealer,
    );
  }

  /** The call as a member is asked it. @throws McpFault where the member cannot be called, UserTokenFault, GatewayError */
  async #calling(
    call: McpCall,
    { server, hurried }: Member,
    reply: CallReply,
    { isHurried = false, calledAs }: { isHurried?: boolean; calledAs?: string | undefined },
  ): Promise<McpCall> {
    const why = unserved(server);
    if (why !== undefined)
      throw new McpFault({ status: 200, code: rpcCodes.internalError, message: why });
    const { exchange } = call;
    const asking: McpCall = {
      ...call,
      // What several are asked at once is several events.
      exchange: isHurried ? { ...exchange, subject: { ...exchange.subject } } : exchange,
      server: isHurried ? hurried : server,
      via: { slug: call.server.source.slug, calledAs },
      reply,
    };
    return withCaller(asking, this.#deps);
  }

  /** One request, to the member that it is about. */
  async #ask(
    call: McpCall,
    asked: McpRequest,
    way: Way,
    session: string | undefined,
  ): Promise<void> {
    this.#deps.access.admit(call, asked);
    const { member, subject, isShown } = await this.#route(call, asked, way);
    const view = this.#view(call, member);
    const sent = this.#sentTo(call, member, asked, subject);
    const reply = passTo(call, asked, { ...view, namesUris: view.namesUris || isShown });
    const asking = await this.#calling(call, member, reply, { calledAs: asked.subject });
    const over = session === undefined ? () => {} : this.#runs(session, asked, member);
    try {
      await way.send(asking, sent);
    } finally {
      over();
    }
  }

  /** Of what decides about lists: another text, another list. */
  stateOf(call: McpCall): string {
    return stateOf(call.bundle, call.server);
  }

  /** Who would be asked this, and what, as far as it is known without asking anybody. @throws McpFault where nobody would */
  whose(
    call: Asking,
    asked: McpRequest,
  ): { server: Member['server']; asked: McpRequest } | undefined {
    const type = namedTypeOf(asked);
    const place =
      type === undefined || asked.subject === undefined
        ? this.#place(call, asked, 200)
        : this.#placeOf(call, this.#known(call, type, asked.subject));
    if (place === undefined) return undefined;
    const { member, subject } = place;
    return { server: member.server, asked: this.#sentTo(call, member, asked, subject) };
  }

  #sentTo(
    call: Asking,
    member: Member,
    asked: McpRequest,
    subject: string | undefined,
  ): McpRequest {
    return readMessage(askedOfMember(asked, this.#view(call, member), subject)) as McpRequest;
  }

  async #route(call: McpCall, asked: McpRequest, way: Way): Promise<Place> {
    const { subject } = asked;
    const type = namedTypeOf(asked);
    if (type === undefined || subject === undefined)
      return this.#place(call, asked, way.isModern ? 404 : 200);
    const place = this.#placeOf(call, await this.#ownerOf(call, asked, type, subject, way));
    if (place !== undefined) return place;
    throw invalidParams(
      asked,
      `${type === 'tool' ? 'Tool' : 'Prompt'} '${cut(subject)}' not found`,
    );
  }

  #placeOf(call: Asking, owner: MemberName | undefined): Place | undefined {
    const member = this.#open(call).find(({ slug }) => slug === owner?.member);
    return member && owner && { member, subject: owner.name, isShown: false };
  }

  /** @param status of what nobody can tell whose it is @throws McpFault −32602 where no member has it, −32601 of another method */
  #place(call: Asking, asked: McpRequest, status: number): Place {
    const members = this.#open(call);
    const { method, subject } = asked;
    const of = (slug: string | undefined) => members.find((member) => member.slug === slug);
    const [first] = members;
    const isOnly = this.#members.of(call.bundle, call.server).length === 1;
    const only = isOnly ? first : undefined;
    if (subject === undefined) {
      if (only !== undefined) return { member: only, subject: undefined, isShown: false };
      const { idText } = asked;
      if (subjectFields.has(method) || method === 'completion/complete')
        throw invalidParams(asked, `params of ${method} must say what it is about.`);
      const message = `Method not found: ${method} is none of a merged server.`;
      throw new McpFault({ status, code: rpcCodes.methodNotFound, message, idText });
    }
    if (method.startsWith('tasks/')) {
      const task = openMemberId(this.#deps.sealer, 'task', call.server.source.id, subject);
      const member = of(task?.member);
      if (member === undefined || task === undefined)
        throw invalidParams(asked, 'params.taskId is no task of this server.');
      return { member, subject: task.id, isShown: false };
    }
    const shown = openShownUri(subject);
    const member = of(shown?.member);
    if (member !== undefined && shown !== undefined)
      return { member, subject: shown.uri, isShown: true };
    if (only !== undefined) return { member: only, subject, isShown: false };
    throw invalidParams(
      asked,
      `Resource '${cut(subject)}' not found: addresses here begin with mcp-member://{server}/.`,
    );
  }

  #known(call: Asking, type: NamedType, name: string): MemberName | undefined {
    return this.#naming.owner(call, this.#members.of(call.bundle, call.server), type, name);
  }

  async #ownerOf(call: McpCall, asked: McpRequest, type: NamedType, name: string, way: Way) {
    const owner = this.#known(call, type, name);
    if (owner !== undefined || this.#naming.isFresh(call, type)) return owner;
    await this.#lists.look(call, asked, type, way);
    return this.#known(call, type, name);
  }

  #runs(session: string, { id, progressToken }: McpRequest, { slug }: Member): () => void {
    let running = this.#running.use(session);
    if (running === undefined) {
      running = new Map();
      this.#running.set(session, running);
    }
    const key = idKey(id);
    running.set(key, { slug, progressToken });
    return () => {
      running.delete(key);
      if (running.size === 0 && this.#running.peek(session) === running)
        this.#running.delete(session);
    };
  }

  /** Whom what a caller says is for; undefined = for all. */
  #namedIn(session: Session, message: McpMessage) {
    if (message.kind === 'response' || message.kind === 'error')
      return openRequestId(message.id) ?? { member: '', id: undefined };
    if (message.kind !== 'notification') return undefined;
    const { method, params } = message;
    if (method === 'notifications/progress')
      return openRequestId(params?.progressToken) ?? { member: '', id: undefined };
    if (method !== 'notifications/cancelled') return undefined;
    const id = params?.requestId;
    if (typeof id !== 'string' && typeof id !== 'number') return undefined;
    const running = this.#running.peek(session.name)?.get(idKey(id));
    return running === undefined ? undefined : { member: running.slug, id: undefined };
  }
}

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Who asked for no level is told what servers choose. */
function isHeard(level: string | undefined): boolean {
  return level === undefined || levels.indexOf(level) <= levels.indexOf('warning');
}

/** In the newer era who names no level is told nothing. */
function isHeardByRequest(level: unknown): boolean {
  return typeof level === 'string' && isHeard(level);
}

function namedTypeOf({ method, params }: McpRequest): NamedType | undefined {
  if (method === 'tools/call') return 'tool';
  if (method === 'prompts/get') return 'prompt';
  const ref = method === 'completion/complete' ? params?.ref : undefined;
  return isObject(ref) && ref.type === 'ref/prompt' ? 'prompt' : undefined;
}

function infoOf({ server: { source } }: McpCall) {
  return { name: source.slug, title: source.name, version: '1' };
}

function cut(text: string): string {
  return text.length > 128 ? `${text.slice(0, 128)}…` : text;
}
