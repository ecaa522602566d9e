import type { JsonObject } from '@sluice/contracts';
import { type ListedItem, type ListKind, type McpRequest, readMessage } from '@sluice/mcp';
import { RecentMap } from '../chain/recent-map.ts';
import type { Abortable } from '../http/caller-gone.ts';
import type { Access, MarksNeeded } from './access.ts';
import type { McpCall } from './mcp-call.ts';
import type { ServerReply } from './server-reply.ts';
import { ownDeadline } from './upstream.ts';

/** Sends one request for a page as the caller's own calls are sent, and reads what is answered. */
export type AskPage = (page: McpRequest, signal: Abortable) => Promise<ServerReply>;

/** Of one list; what comes beyond is not seen, and with `block` not called. */
const pagesMax = 50;
const itemsMax = 10_000;
/** What a list does not have is not looked for again for so long. */
const againMs = 10_000;
const listedMax = 10_000;

/**
 * Lists by itself what a decision needs to have seen: with `on_drift: block`
 * calls are held against the definition that the server has now, and another
 * gateway may be the one that the caller listed at.
 */
export class DefinitionLister {
  readonly #access: Access;
  readonly #running = new Map<string, Promise<void>>();
  /** When it was listed last, by `performance.now()`. */
  readonly #listed = new RecentMap<number>(listedMax);

  constructor(access: Access) {
    this.#access = access;
  }

  /**
   * To be awaited before `Access.admit`.
   * @param session whose list it is: of one caller, with one credential
   * @param needs of servers of the newer era: what headers are made of
   * @throws GatewayError, McpFault where the server cannot be asked
   */
  require(
    call: McpCall,
    asked: McpRequest,
    session: string,
    timeoutMs: number,
    ask: AskPage,
    needs?: MarksNeeded,
  ): Promise<void> | undefined {
    const kind = this.#access.unseen(call, asked, needs);
    if (kind === undefined) return undefined;
    const key = `${session} ${call.server.version} ${kind.type}`;
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const before = this.#listed.use(key);
    if (before !== undefined && performance.now() - before < againMs) return undefined;
    // Others wait for it, too: who began it may leave.
    const signal = ownDeadline(timeoutMs);
    const listing = this.#list(call, kind, (page) => ask(page, signal))
      .then(() => void this.#listed.set(key, performance.now()))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, listing);
    return listing;
  }

  async #list(
    call: McpCall,
    kind: ListKind,
    ask: (page: McpRequest) => Promise<ServerReply>,
  ): Promise<void> {
    const items: ListedItem[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < pagesMax && items.length < itemsMax; page += 1) {
      const reply = await ask(pageRequest(kind, page, cursor));
      // A server that lists nothing has nothing that could be called.
      if (reply.kind === 'error') return;
      const list = this.#access.look(call, kind, reply);
      items.push(...list.items);
      cursor = list.nextCursor;
      if (cursor === undefined) break;
    }
    this.#access.report(call, kind, items, cursor === undefined);
  }
}

function pageRequest({ method }: ListKind, page: number, cursor: string | undefined): McpRequest {
  const params: JsonObject = cursor === undefined ? {} : { cursor };
  const id = `sluice-list-${page}-${crypto.randomUUID()}`;
  return readMessage(
    Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params })),
  ) as McpRequest;
}
