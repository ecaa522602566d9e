import type { JsonObject } from '@sluice/contracts';
import {
  itemsOfPage,
  type JoinedKind,
  McpFault,
  type McpRequest,
  metaKeys,
  type PageItem,
  readMessage,
  rpcCodes,
} from '@sluice/mcp';
import { RecentMap } from '../../chain/recent-map.ts';
import type { McpCall } from '../mcp-call.ts';
import { HeardReply } from './heard-reply.ts';
import type { Member } from './members.ts';

/** Asks a member as the caller's own requests are asked there. @throws what its relay throws */
export type AskMember = (member: Member, asked: McpRequest, reply: HeardReply) => Promise<void>;

export interface Failed {
  readonly slug: string;
  readonly error: unknown;
}

/** What came of asking several members at once. */
export interface Gathered<T> {
  readonly answers: readonly { readonly member: Member; readonly answer: T }[];
  readonly failed: readonly Failed[];
}

export type Listed = Gathered<readonly PageItem[]>['answers'];

export interface GatheredLists extends Gathered<readonly PageItem[]> {
  /** A member told its list as a stream. */
  readonly isStreamed: boolean;
}

/** Of one member; what comes beyond is not listed. */
const pagesMax = 50;
const itemsMax = 5_000;
/** Who did not answer is left out without waiting for so long. */
const restMs = 10_000;
const restsMax = 10_000;

/** Asks all members at once, and waits for none of them longer than the caller should. */
export class Gatherer {
  readonly #hurryMs: number;
  readonly #rests = new RecentMap<number>(restsMax);

  constructor(hurryMs: number) {
    this.#hurryMs = hurryMs;
  }

  async all<T>(
    call: McpCall,
    members: readonly Member[],
    ask: (member: Member) => Promise<T>,
  ): Promise<Gathered<T>> {
    const answers: { member: Member; answer: T }[] = [];
    const failed: Failed[] = [];
    const outcomes = await Promise.allSettled(
      members.map((member) => this.#one(call, member, ask)),
    );
    for (const [at, outcome] of outcomes.entries()) {
      const member = members[at] as Member;
      if (outcome.status === 'fulfilled') answers.push({ member, answer: outcome.value });
      else failed.push({ slug: member.slug, error: outcome.reason });
    }
    return { answers, failed };
  }

  async #one<T>(call: McpCall, member: Member, ask: (member: Member) => Promise<T>): Promise<T> {
    const key = `${member.server.version} ${call.principal}`;
    const until = this.#rests.use(key);
    if (until !== undefined && until > performance.now())
      throw new McpFault({
        status: 200,
        code: rpcCodes.requestTimeout,
        message: 'It did not answer in time just now.',
      });
    try {
      const answer = await within(this.#hurryMs + graceMs, ask(member));
      if (until !== undefined) this.#rests.delete(key);
      return answer;
    } catch (error) {
      const isSilent = error instanceof McpFault && error.code === rpcCodes.requestTimeout;
      if (isSilent) this.#rests.set(key, performance.now() + restMs);
      throw error;
    }
  }

  /** All that each member lists of a kind, as this caller sees it there. */
  async lists(
    call: McpCall,
    members: readonly Member[],
    asked: McpRequest,
    kind: JoinedKind,
    ask: AskMember,
  ): Promise<GatheredLists> {
    let isStreamed = false;
    const opened = () => {
      isStreamed = true;
    };
    const gathered = await this.all(call, members, (member) =>
      listOf(call, member, asked, kind, ask, opened),
    );
    return { ...gathered, isStreamed };
  }
}

/** The relay's own deadline comes first, and says why. */
const graceMs = 500;

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = 'It did not answer in time.';
      reject(new McpFault({ status: 200, code: rpcCodes.requestTimeout, message }));
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

async function listOf(
  call: McpCall,
  member: Member,
  base: McpRequest,
  kind: JoinedKind,
  ask: AskMember,
  opened: () => void,
): Promise<readonly PageItem[]> {
  const items = new Map<string, PageItem>();
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax && items.size < itemsMax; page += 1) {
    const asked = listRequest(base, kind.method, cursor);
    const reply = new HeardReply(call.reply, { opened });
    await ask(member, asked, reply);
    const answer = reply.answerTo(asked);
    if (answer.kind === 'error') {
      // A server without any of these says so.
      if (answer.error.code === rpcCodes.methodNotFound) break;
      throw new McpFault({ status: 200, ...answer.error });
    }
    addNew(items, itemsOfPage(answer, kind), itemsMax);
    const { nextCursor } = answer.result;
    if (typeof nextCursor !== 'string') break;
    cursor = nextCursor;
  }
  return [...items.values()];
}

/** What stands on several pages is one thing: models take no two tools of one name. */
export function addNew(
  items: Map<string, PageItem>,
  page: readonly PageItem[],
  itemsMax: number,
): void {
  for (const item of page) {
    if (items.size === itemsMax) return;
    if (!items.has(item.name)) items.set(item.name, item);
  }
}

/** What of a request's `_meta` says who asks, and of which era. */
const ofWhoAsks = [metaKeys.protocolVersion, metaKeys.clientCapabilities, metaKeys.clientInfo];

/** A request of the gateway's own, on behalf of whoever asked this. */
export function listRequest(
  { meta }: Pick<McpRequest, 'meta'>,
  method: string,
  cursor?: string,
): McpRequest {
  const _meta: JsonObject = Object.fromEntries(
    ofWhoAsks.flatMap((name) => (meta?.[name] === undefined ? [] : [[name, meta[name]]])),
  ) as JsonObject;
  const params = {
    ...(cursor === undefined ? {} : { cursor }),
    ...(Object.keys(_meta).length === 0 ? {} : { _meta }),
  };
  const id = `sluice-${crypto.randomUUID()}`;
  return readMessage(
    Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params })),
  ) as McpRequest;
}

/** The fault that stands for all where nobody answered. */
export function faultOfAll(failed: readonly Failed[], asked: McpRequest): unknown {
  const [first] = failed;
  if (first === undefined)
    return new McpFault({
      status: 200,
      code: rpcCodes.internalError,
      message: 'This MCP server is made of others, and none of them may be used.',
      idText: asked.idText,
    });
  const { error } = first;
  if (error instanceof McpFault) {
    const { status, code, message, data } = error;
    return new McpFault({ status, code, message, data, idText: asked.idText });
  }
  return error;
}
