import type { JsonValue } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import {
  askedOfMember,
  idKey,
  isObject,
  type JoinedKind,
  joinItems,
  type ListKind,
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
  openPageCursor,
  openRequestId,
  openShownUri,
  type PageItem,
  readMessage,
  resultReply,
  rpcCodes,
  type Sealer,
  sealMemberId,
  sealPageCursor,
  shownUri,
  subjectFields,
  toMember,
  writeSseEvent,
} from '@sluice/mcp';
import { RecentMap } from '../../chain/recent-map.ts';
import { listMsMax } from '../access.ts';
import type { CallReply } from '../caller-reply.ts';
import { type EnterParts, withCaller } from '../enter-server.ts';
import type { McpCall } from '../mcp-call.ts';
import type { OpenMcpStreams } from '../open-mcp-streams.ts';
import type { ServedServer } from '../served-server.ts';
import type { Session } from '../session.ts';
import type { Sessions } from '../sessions.ts';
import { unserved } from '../unserved.ts';
import { type AskMember, type Failed, faultOfAll, Gatherer, type Listed } from './gather.ts';
import { faultText, HeardReply } from './heard-reply.ts';
import { type Member, Members, stateOf } from './members.ts';
import { listenToAll } from './merged-listen.ts';
import { MergedSessions } from './merged-sessions.ts';
import { type RunningCalls, streamOfAll } from './merged-stream.ts';
import { type NamedType, Naming } from './naming.ts';
import { memberView, ownerText, passTo } from './pass-to.ts';

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

/** How a request goes to a member: in a session, or alone. */
interface Way {
  readonly isModern: boolean;
  readonly send: (member: McpCall, asked: McpRequest) => Promise<void>;
  /** Whether the caller hears of warnings. */
  readonly hearsWarnings: () => boolean | Promise<boolean>;
}

const pageItemsMax = 1_000;
const pageBytesMax = 4 * 1024 * 1024;
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
  /** Calls that go on, by session: who has them, for what their caller says of them. */
  readonly #running: RunningCalls = new RecentMap(sessionsRunningMax);

  constructor(deps: MergedServerDeps) {
    this.#deps = deps;
    this.#members = new Members(deps.hurryMs);
    this.#gatherer = new Gatherer(deps.hurryMs);
    this.#sessions = new MergedSessions(deps.sessions, deps.single);
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
    if (kind !== undefined) return this.#list(call, asked, kind, way);
    if (asked.method === 'tasks/list') return this.#list(call, asked, taskList, way);
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
    if (kind !== undefined) return this.#list(call, message, kind, way);
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
    const kind = listKindOf(type === 'tool' ? 'tools/list' : 'prompts/list') as ListKind;
    const { answers } = await this.#lists(call, asked, kind, way);
    this.#names(call, type, answers);
    return this.#known(call, type, name);
  }

  #lists(call: McpCall, asked: McpRequest, kind: JoinedKind, way: Way) {
    const ask: AskMember = async (member, request, reply) =>
      way.send(await this.#calling(call, member, reply, { isHurried: true }), request);
    return this.#gatherer.lists(call, this.#open(call), asked, kind, ask);
  }

  #names(call: McpCall, type: NamedType, answers: Listed) {
    const members = this.#members.of(call.bundle, call.server);
    const listed = new Map(
      answers.map(({ member, answer }) => [member.slug, answer.map(({ name }) => name)]),
    );
    return this.#naming.listed(call, members, type, listed);
  }

  /** What all list, in the order of the members. */
  async #list(
    call: McpCall,
    asked: McpRequest,
    kind: ListKind | JoinedKind,
    way: Way,
  ): Promise<void> {
    const from = this.#cursorOf(call, asked);
    const { answers, failed, isStreamed } = await this.#lists(call, asked, kind, way);
    if (answers.length === 0 && failed.length > 0) throw faultOfAll(failed, asked);
    const show = 'type' in kind ? this.#shower(call, kind, answers) : this.#showTask(call);
    const shown: Shown[] = [];
    for (const { member, answer } of answers)
      for (const [at, item] of answer.entries()) {
        const bytes = show(member, item);
        if (bytes !== undefined) shown.push({ slug: member.slug, at, bytes });
      }
    const all = this.#members.of(call.bundle, call.server);
    const order = new Map(all.map(({ slug }, at) => [slug, at]));
    const start = from === undefined ? 0 : shown.findIndex((each) => isFrom(each, from, order));
    const rest = start === -1 ? [] : shown.slice(start);
    const page = firstOf(rest);
    const next = rest[page.length];
    const bytes = joinItems(
      page.map((each) => each.bytes),
      kind,
      asked.idText,
      {
        nextCursor: next && this.#sealCursor(call, asked, next),
        hints: way.isModern ? { ttlMs: listMsMax } : undefined,
      },
    );
    const isTold = failed.length > 0 && from === undefined && (await way.hearsWarnings());
    const told = isTold ? failed : [];
    answerWith(call, bytes, told, isStreamed);
  }

  /** How a definition is shown: undefined = callers do not see it. */
  #shower(
    call: McpCall,
    { type, field }: ListKind,
    answers: Listed,
  ): (member: Member, item: PageItem) => Buffer | undefined {
    const isNamed = type === 'tool' || type === 'prompt';
    const names = isNamed ? this.#names(call, type, answers) : undefined;
    const { access } = this.#deps;
    return (member, { name, bytes, definition }) => {
      const { slug } = member;
      const { namesUris } = this.#view(call, member);
      const uri = namesUris ? shownUri(slug, name) : name;
      const shown = names === undefined ? uri : names.exposed({ member: slug, name });
      if (shown === undefined || !access.lists(call, type, shown)) return undefined;
      const edit = new JsonEdit(bytes);
      if (shown !== name) edit.set([field], JSON.stringify(shown));
      if (type === 'tool' && namesUris) namePages(edit, slug, definition._meta);
      return edit.bytes();
    };
  }

  #showTask(call: McpCall): (member: Member, item: PageItem) => Buffer {
    const { id: server } = call.server.source;
    return ({ slug }, { name, bytes }) => {
      const task = sealMemberId(this.#deps.sealer, 'task', server, { member: slug, id: name });
      const edit = new JsonEdit(bytes);
      edit.set(['taskId'], JSON.stringify(task));
      return edit.bytes();
    };
  }

  #cursorOf(call: McpCall, asked: McpRequest): { slug: string; at: number } | undefined {
    const cursor = asked.params?.cursor;
    if (cursor === undefined) return undefined;
    const { id } = call.server.source;
    const place =
      typeof cursor === 'string'
        ? openPageCursor(this.#deps.sealer, id, asked.method, ownerText(call), cursor)
        : undefined;
    if (place === undefined) throw invalidParams(asked, 'params.cursor is none of this list.');
    return { slug: place.member, at: Number(place.cursor ?? 0) };
  }

  #sealCursor(call: McpCall, { method }: McpRequest, { slug, at }: { slug: string; at: number }) {
    const place = { member: slug, cursor: `${at}` };
    return sealPageCursor(this.#deps.sealer, call.server.source.id, method, ownerText(call), place);
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

interface Shown {
  readonly slug: string;
  /** Its place among what its member lists. */
  readonly at: number;
  readonly bytes: Buffer;
}

/** An answer, after what its caller is to know of members that are not in it; a stream where a member's was one. */
function answerWith(
  { reply }: McpCall,
  bytes: Buffer,
  failed: readonly Failed[],
  isStreamed: boolean,
): void {
  if (failed.length === 0 && !isStreamed) {
    reply.body(200, bytes);
    return;
  }
  reply.openStream();
  for (const each of failed) reply.write(writeSseEvent(leftOut(each)));
  reply.write(writeSseEvent(bytes));
  reply.endStream();
}

/** Pages that hosts show with a tool are resources of its member. */
function namePages(edit: JsonEdit, slug: string, meta: JsonValue | undefined): void {
  if (!isObject(meta)) return;
  const at = (path: readonly string[], uri: JsonValue | undefined) => {
    if (typeof uri === 'string') edit.set(['_meta', ...path], JSON.stringify(shownUri(slug, uri)));
  };
  at(['ui', 'resourceUri'], isObject(meta.ui) ? meta.ui.resourceUri : undefined);
  at(['ui/resourceUri'], meta['ui/resourceUri']);
}

/** As lists of definitions are, so are tasks joined. */
const taskList: JoinedKind = { method: 'tasks/list', member: 'tasks', field: 'taskId' };

const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** Who asked for no level is told what servers choose. */
function isHeard(level: string | undefined): boolean {
  return level === undefined || levels.indexOf(level) <= levels.indexOf('warning');
}

/** In the newer era who names no level is told nothing. */
function isHeardByRequest(level: unknown): boolean {
  return typeof level === 'string' && isHeard(level);
}

export function leftOut({ slug, error }: Failed): Buffer {
  const data = `${slug} is left out: ${faultText(error)}`;
  const params = { level: 'warning', logger: 'sluice', data };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }));
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

function firstOf<T extends { bytes: Buffer }>(items: readonly T[]): T[] {
  const page: T[] = [];
  let size = 0;
  for (const item of items) {
    size += item.bytes.length;
    if (page.length > 0 && (page.length === pageItemsMax || size > pageBytesMax)) break;
    page.push(item);
  }
  return page;
}

/** Whether a page that goes on from there begins with this. */
function isFrom(
  { slug, at }: { slug: string; at: number },
  from: { slug: string; at: number },
  order: ReadonlyMap<string, number>,
): boolean {
  if (slug === from.slug) return at >= from.at;
  // Of a member that has gone the next one begins.
  const place = order.get(from.slug);
  return place !== undefined && (order.get(slug) as number) > place;
}

function invalidParams({ idText }: McpRequest, message: string): McpFault {
  return new McpFault({ status: 200, code: rpcCodes.invalidParams, message, idText });
}

function cut(text: string): string {
  return text.length > 128 ? `${text.slice(0, 128)}…` : text;
}
