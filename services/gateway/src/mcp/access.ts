import type { JsonObject } from '@sluice/contracts';
import {
  askedBy,
  type CapabilityType,
  compileServer,
  type Decision,
  decide,
  denyServer,
  type FilteredList,
  KnownPages,
  type ListedItem,
  type ListKind,
  listKindOf,
  listKinds,
  type McpMessage,
  type McpRequest,
  type McpResponse,
  MessageEdit,
  messageBounds,
  ownArguments,
  type ParamHeader,
  PinMemory,
  prepareCall,
  type ReadList,
  readList,
  readMessage,
  readParamHeaders,
  refusalOf,
  type ServerView,
  type Who,
} from '@sluice/mcp';
import { RecentMap } from '../chain/recent-map.ts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { McpCall } from './mcp-call.ts';
import type { SeenDefinitions } from './seen-definitions.ts';

/** A request as the server is sent it. */
export interface Admitted {
  readonly bytes: Buffer;
  readonly params: JsonObject | undefined;
  /** What servers of the newer era want repeated in headers, of a tool whose definition was seen. */
  readonly marks: ToolMarks;
}

/** Arguments that stand in `Mcp-Param-*` too. */
export interface ToolMarks {
  readonly all: readonly ParamHeader[];
  /** Of them those that admins fixed or hid: what callers send in their headers is not what is sent. */
  readonly own: readonly ParamHeader[];
}

/** Whose marks must be known before a call is sent: of tools with arguments that admins fixed, or of all. */
export type MarksNeeded = 'own' | 'all';

/** Who asks which server. */
export interface Asking {
  readonly server: CompiledMcpServer;
  readonly key: ResolvedKey;
  readonly exchange: { readonly metadata: Who['metadata'] };
  /** The end user's own token, which says more of them than what the gateway was called with. */
  readonly user?: { readonly claims: Readonly<Record<string, unknown>> } | undefined;
}

/** A change of rights bites within so long: a modern caller may keep no list longer. */
export const listMsMax = 1000;
const hashesMax = 100_000;
/** Pages of longer cursors are read anew each time. */
const cursorMax = 256;
const marksMax = 10_000;
const noMarks: ToolMarks = { all: [], own: [] };

/** Who may use what of which server, and what lists show: the one way to `decide`. */
export class Access {
  readonly #views = new WeakMap<CompiledMcpServer, ServerView>();
  readonly #pins = new PinMemory();
  readonly #pages = new KnownPages();
  /** Lists of which every definition is remembered, as they were when this number of changes had been made. */
  readonly #remembered = new WeakMap<readonly ListedItem[], number>();
  #changes = 0;
  /** Of definitions as they were listed last, by integration, type and name. */
  readonly #hashes = new RecentMap<string>(hashesMax);
  /** Of tools among them that have any. */
  readonly #marks = new RecentMap<readonly ParamHeader[]>(marksMax);
  readonly #seen: Pick<SeenDefinitions, 'see'>;

  /** @param seen is told what servers list, whatever callers are shown of it */
  constructor(seen: Pick<SeenDefinitions, 'see'>) {
    this.#seen = seen;
  }

  /** Why this caller may not use a server at all; undefined = they may. */
  denyServer(server: CompiledMcpServer, key: ResolvedKey): string | undefined {
    const reason = denyServer(this.#viewOf(server), whoOf({ key, exchange: { metadata: {} } }));
    if (reason === undefined) return undefined;
    return reason === 'server_disabled'
      ? 'This MCP server is switched off.'
      : 'You have no access to this MCP server.';
  }

  /** @throws McpFault when the caller may not ask this */
  admit(call: Asking, asked: McpRequest): Admitted {
    const view = this.#viewOf(call.server);
    const about = askedBy(view, asked, (type, name) => this.#hashes.use(hashKey(call, type, name)));
    if (about === undefined) return { bytes: asked.bytes, params: asked.params, marks: noMarks };
    const decision = decide(view, whoOf(call), about);
    if (!decision.allowed)
      throw refusalOf(view, decision, {
        type: about.type,
        name: asked.subject ?? '',
        idText: asked.idText,
      });
    const edit = new MessageEdit(asked);
    const args = prepareCall(edit, asked, decision);
    const bytes = edit.bytes();
    const marks = this.#marksOf(call, decision);
    if (bytes === asked.bytes) return { bytes, params: asked.params, marks };
    const field = asked.method === 'tools/call' || asked.method === 'prompts/get' ? 'name' : 'uri';
    return { bytes, params: { ...asked.params, [field]: decision.name, arguments: args }, marks };
  }

  /** Whether this caller's lists show it. @param name as callers know it, of a server without pins */
  lists(call: Asking, type: CapabilityType, name: string): boolean {
    const asked = { type, name, arguments: undefined, hash: undefined };
    return decide(this.#viewOf(call.server), whoOf(call), asked).allowed;
  }

  /**
   * Which list must be seen before this can be decided, or sent; undefined = none.
   * @param needs of servers of the newer era
   * @throws McpFault
   */
  unseen(call: Asking, asked: McpRequest, needs?: MarksNeeded): ListKind | undefined {
    const { onDrift } = call.server.source;
    const isBlocking = onDrift !== 'alert' && onDrift !== 'hide';
    const needsMarks = needs !== undefined && asked.method === 'tools/call';
    if (!isBlocking && !needsMarks) return undefined;
    const view = this.#viewOf(call.server);
    const about = askedBy(view, asked, (type, name) => this.#hashes.use(hashKey(call, type, name)));
    if (about === undefined) return undefined;
    const decision = decide(view, whoOf(call), about);
    if (decision.allowed) {
      const { row } = decision;
      const isNeeded =
        needsMarks && (needs === 'all' || (row !== undefined && ownArguments(row).size > 0));
      return isNeeded && about.hash === undefined ? listKindOf('tools/list') : undefined;
    }
    if (decision.reason !== 'definition_not_seen') return undefined;
    const isTemplate = about.type === 'resource' && decision.by !== undefined;
    const wanted = isTemplate ? 'resource_template' : about.type;
    return listKinds.find(({ type }) => type === wanted);
  }

  #marksOf(call: Asking, { name, row }: Extract<Decision, { allowed: true }>): ToolMarks {
    const all = this.#marks.use(hashKey(call, 'tool', name));
    if (all === undefined) return noMarks;
    const own = row === undefined ? new Set<string>() : ownArguments(row);
    return { all, own: all.filter(({ path: [argument = ''] }) => own.has(argument)) };
  }

  /** Reads a page for what it says of definitions. @throws McpFault when it is no list */
  look(call: Asking, kind: ListKind, reply: McpResponse): ReadList {
    const list = readList(reply, kind, this.#pins);
    this.#remember(call, kind, list.items);
    return list;
  }

  /** Tells the control plane what a server lists. @param isComplete it is all there is of the type */
  report(
    call: Asking,
    { type }: ListKind,
    items: readonly ListedItem[],
    isComplete: boolean,
  ): void {
    const { integrationId } = call.server.source;
    const { organisationId } = call.key.source;
    const { pins } = call.server;
    this.#seen.see({ organisationId, integrationId, type, items, isComplete, pins });
  }

  /** The message that an answer is. Of a page that came the same before only what is around it is read. @throws McpFault */
  read({ server }: Asking, { method, params }: McpRequest, bytes: Buffer): McpMessage {
    const kind = listKindOf(method);
    const cursor = params?.cursor ?? '';
    if (kind === undefined || typeof cursor !== 'string' || cursor.length > cursorMax)
      return readMessage(bytes, messageBounds.upstream);
    return this.#pages.read(`${server.source.integrationId} ${kind.type} ${cursor}`, bytes);
  }

  /** What the caller may see of an answer; its own bytes where that is all. @throws McpFault when a list is none */
  shown(call: McpCall, asked: McpRequest, reply: McpResponse, isModern: boolean): Buffer {
    const kind = listKindOf(asked.method);
    if (kind === undefined) return reply.bytes;
    const { items, nextCursor, bytes } = this.#filter(call, kind, reply, isModern);
    const isFirst = asked.params?.cursor === undefined;
    this.report(call, kind, items, isFirst && nextCursor === undefined);
    return bytes;
  }

  /** The same, of an answer to who knows what: it is told again on another stream. */
  shownAgain(call: McpCall, reply: McpResponse): Buffer {
    const kind = listKinds.find(({ member }) => Array.isArray(reply.result[member]));
    return kind === undefined ? reply.bytes : this.#filter(call, kind, reply, false).bytes;
  }

  #filter(call: McpCall, kind: ListKind, reply: McpResponse, isModern: boolean): FilteredList {
    const list = this.#pages.filter(this.#viewOf(call.server), whoOf(call), reply, {
      kind,
      pins: this.#pins,
      isModern,
      ttlMsMax: listMsMax,
    });
    this.#remember(call, kind, list.items);
    return list;
  }

  #remember(call: Asking, { type }: ListKind, items: readonly ListedItem[]): void {
    if (this.#remembered.get(items) === this.#changes) return;
    for (const { name, hash, definition } of items) {
      const key = hashKey(call, type, name);
      // What is seen anew stands for the list that had something else there, or makes room of what was seen.
      if (this.#hashes.use(key) === hash) continue;
      this.#hashes.set(key, hash);
      this.#changes += 1;
      if (type !== 'tool') continue;
      const { headers = [] } = readParamHeaders(definition.inputSchema);
      if (headers.length > 0) this.#marks.set(key, headers);
      else this.#marks.delete(key);
    }
    this.#remembered.set(items, this.#changes);
  }

  #viewOf(server: CompiledMcpServer): ServerView {
    let view = this.#views.get(server);
    if (view === undefined) {
      view = viewOf(server);
      this.#views.set(server, view);
    }
    return view;
  }
}

function viewOf({ source, capabilities, allowsNew, policy, policyIsUnread }: CompiledMcpServer) {
  return compileServer({
    // Rules that this release cannot read might forbid anything.
    enabled: source.enabled && !policyIsUnread,
    usersAllowed: source.usersAllowed,
    userAccess: source.userAccess,
    capabilities: [...capabilities.values()].map(({ source: row, fixedArguments }) => ({
      type: row.type,
      name: row.name,
      enabled: row.enabled,
      pin: row.pin,
      renamedTo: row.renamedTo,
      description: row.description,
      fixedArguments,
      hiddenArguments: row.hiddenArguments,
    })),
    allowsNew,
    onDrift: source.onDrift,
    access: policyIsUnread ? [] : (policy.access ?? []),
    deniedAs: policy.denied_as === 'unknown' ? 'unknown' : 'disabled',
  });
}

function whoOf({ key, exchange, user }: Omit<Asking, 'server'>): Who {
  const { id, name, slug } = key.source;
  return {
    key: { id, name, slug },
    userId: userOf(key),
    metadata: exchange.metadata,
    claims: (user?.claims ?? key.tokenClaims) as JsonObject | undefined,
  };
}

function userOf({ source }: ResolvedKey): string | undefined {
  return source.userId === '' ? undefined : source.userId;
}

function hashKey({ server }: Asking, type: CapabilityType, name: string): string {
  return `${server.source.integrationId} ${type} ${name}`;
}
