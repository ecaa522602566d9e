import type { JsonValue } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import {
  isObject,
  type JoinedKind,
  joinItems,
  type ListKind,
  listKindOf,
  McpFault,
  type McpRequest,
  type MemberView,
  openPageCursor,
  type PageItem,
  rpcCodes,
  type Sealer,
  sealMemberId,
  sealPageCursor,
  shownUri,
  writeSseEvent,
} from '@sluice/mcp';
import { type Access, listMsMax } from '../access.ts';
import type { CallReply } from '../caller-reply.ts';
import type { McpCall } from '../mcp-call.ts';
import { type AskMember, type Failed, faultOfAll, type Gatherer, type Listed } from './gather.ts';
import { faultText } from './heard-reply.ts';
import type { Member, Members } from './members.ts';
import type { NamedType, Naming } from './naming.ts';
import { ownerText } from './pass-to.ts';

/** How a request goes to a member: in a session, or alone. */
export interface Way {
  readonly isModern: boolean;
  readonly send: (member: McpCall, asked: McpRequest) => Promise<void>;
  /** Whether the caller hears of warnings. */
  readonly hearsWarnings: () => boolean | Promise<boolean>;
}

const pageItemsMax = 1_000;
const pageBytesMax = 4 * 1024 * 1024;

export interface MergedListsDeps {
  readonly access: Access;
  readonly sealer: Sealer;
  readonly members: Members;
  readonly gatherer: Gatherer;
  readonly naming: Naming;
  /** Members that this caller may ask at all. */
  readonly open: (call: McpCall) => readonly Member[];
  readonly view: (call: McpCall, member: Member) => MemberView;
  /** The call as a member is asked it beside others. */
  readonly calling: (call: McpCall, member: Member, reply: CallReply) => Promise<McpCall>;
}

/** Lists of a merged server: those of its members, one after the other, in its own names and pages. */
export class MergedLists {
  readonly #deps: MergedListsDeps;

  constructor(deps: MergedListsDeps) {
    this.#deps = deps;
  }

  /** Asks all what they have of a type, so that it is known whose a name is. */
  async look(call: McpCall, asked: McpRequest, type: NamedType, way: Way): Promise<void> {
    const kind = listKindOf(type === 'tool' ? 'tools/list' : 'prompts/list') as ListKind;
    const { answers } = await this.#gathered(call, asked, kind, way);
    this.#names(call, type, answers);
  }

  #gathered(call: McpCall, asked: McpRequest, kind: JoinedKind, way: Way) {
    const ask: AskMember = async (member, request, reply) =>
      way.send(await this.#deps.calling(call, member, reply), request);
    return this.#deps.gatherer.lists(call, this.#deps.open(call), asked, kind, ask);
  }

  #names(call: McpCall, type: NamedType, answers: Listed) {
    const members = this.#deps.members.of(call.bundle, call.server);
    const listed = new Map(
      answers.map(({ member, answer }) => [member.slug, answer.map(({ name }) => name)]),
    );
    return this.#deps.naming.listed(call, members, type, listed);
  }

  /** What all list, in the order of the members. */
  async list(
    call: McpCall,
    asked: McpRequest,
    kind: ListKind | JoinedKind,
    way: Way,
  ): Promise<void> {
    const from = this.#cursorOf(call, asked);
    const { answers, failed, isStreamed } = await this.#gathered(call, asked, kind, way);
    if (answers.length === 0 && failed.length > 0) throw faultOfAll(failed, asked);
    const show = 'type' in kind ? this.#shower(call, kind, answers) : this.#showTask(call);
    const shown: Shown[] = [];
    for (const { member, answer } of answers)
      for (const [at, item] of answer.entries()) {
        const bytes = show(member, item);
        if (bytes !== undefined) shown.push({ slug: member.slug, at, bytes });
      }
    const all = this.#deps.members.of(call.bundle, call.server);
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
      const { namesUris } = this.#deps.view(call, member);
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
export const taskList: JoinedKind = { method: 'tasks/list', member: 'tasks', field: 'taskId' };

function leftOut({ slug, error }: Failed): Buffer {
  const data = `${slug} is left out: ${faultText(error)}`;
  const params = { level: 'warning', logger: 'sluice', data };
  return Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params }));
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

export function invalidParams({ idText }: McpRequest, message: string): McpFault {
  return new McpFault({ status: 200, code: rpcCodes.invalidParams, message, idText });
}
