import type { JsonObject } from '@sluice/contracts';
import { memberSpans } from '@sluice/json';
import {
  isObject,
  itemsOfPage,
  joinItems,
  type ListKind,
  listKindOf,
  McpFault,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  MessageEdit,
  metaKeys,
  type PageItem,
  paramHeadersFor,
  readMessage,
  readParamHeaders,
  resultReply,
  rpcCodes,
  searchTools,
} from '@sluice/mcp';
import { RecentMap } from '../../chain/recent-map.ts';
import { listMsMax } from '../access.ts';
import type { McpCall } from '../mcp-call.ts';
import { addNew, listRequest } from '../merged/gather.ts';
import { HeardReply } from '../merged/heard-reply.ts';
import type { ServedServer } from '../served-server.ts';
import type { Session } from '../session.ts';
import { searchTexts, searchToolDefinitions, searchToolNames } from './search-tool-definitions.ts';

/** Asks the server that is searched. */
type Ask = (call: McpCall, asked: McpRequest) => Promise<void>;

interface Found {
  readonly tools: readonly PageItem[];
  /** What a merged server says of members that are not among them. */
  readonly leftOut: readonly string[];
  readonly until: number;
}

const kind = listKindOf('tools/list') as ListKind;
const pagesMax = 50;
const toolsMax = 10_000;
/** An agent finds, looks closer and calls: it is listed once for that. */
const keptMs = 10_000;
const keptMax = 64;
const keptBytesMax = 1024 * 1024;

const queryMax = 1_000;
const limitDefault = 10;
const limitMax = 50;
const namesMax = 20;
const briefMax = 500;

/**
 * A server of many tools, of which callers are shown three: to find, to describe and to call any of them. All of what a tool
 * is called with goes the way that it goes when it is called by its own name.
 */
export class SearchedServer implements ServedServer {
  readonly #inner: ServedServer;
  readonly #stateOf: (call: McpCall) => string;
  readonly #kept = new RecentMap<Found>(keptMax);

  /** @param stateOf of what decides about lists: another text, another list */
  constructor(inner: ServedServer, stateOf: (call: McpCall) => string) {
    this.#inner = inner;
    this.#stateOf = stateOf;
  }

  begin(call: McpCall, asked: McpRequest): Promise<void> {
    return this.#inner.begin(call, asked);
  }

  request(call: McpCall, session: Session, asked: McpRequest): Promise<void> {
    const ask: Ask = (asking, request) => this.#inner.request(asking, session, request);
    return this.#serve(call, asked, session.name, ask);
  }

  tell(call: McpCall, session: Session, message: McpMessage): Promise<void> {
    return this.#inner.tell(call, session, message);
  }

  stream(call: McpCall, session: Session, lastEventId: string | undefined): Promise<void> {
    return this.#inner.stream(call, session, lastEventId);
  }

  end(call: McpCall, session: Session): Promise<void> {
    return this.#inner.end(call, session);
  }

  modern(call: McpCall, message: McpRequest | McpNotification, version: string): Promise<void> {
    if (message.kind === 'notification') return this.#inner.modern(call, message, version);
    const ask: Ask = (asking, request) => this.#inner.modern(asking, request, version);
    return this.#serve(call, message, undefined, ask);
  }

  async #serve(
    call: McpCall,
    asked: McpRequest,
    session: string | undefined,
    ask: Ask,
  ): Promise<void> {
    const isModern = session === undefined;
    if (asked.method === 'tools/list') {
      if (asked.params?.cursor !== undefined)
        throw invalidParams(asked, 'params.cursor is none of this list.');
      const hints = isModern ? { ttlMs: listMsMax } : undefined;
      const bytes = joinItems(searchToolDefinitions, kind, asked.idText, { hints });
      call.reply.body(200, bytes);
      return;
    }
    const { subject } = asked;
    if (asked.method !== 'tools/call' || subject === undefined || !searchToolNames.has(subject))
      return ask(call, asked);
    const args = isObject(asked.params?.arguments) ? asked.params.arguments : {};
    if (subject === 'call_tool') return this.#call(call, asked, args, session, ask);
    const { tools, leftOut } = await this.#tools(call, asked, session, ask);
    const answer = subject === 'find_tools' ? find(tools, args) : describe(tools, args);
    const said =
      typeof answer === 'string'
        ? { content: [textBlock(answer)], isError: true }
        : withText({ ...answer, ...(leftOut.length === 0 ? {} : { left_out: [...leftOut] }) });
    const result = { ...said, ...(isModern && { resultType: 'complete' }) };
    call.reply.body(200, resultReply(asked.idText, result));
  }

  async #call(
    call: McpCall,
    asked: McpRequest,
    { name, arguments: args }: JsonObject,
    session: string | undefined,
    ask: Ask,
  ): Promise<void> {
    if (typeof name !== 'string' || (args !== undefined && !isObject(args))) {
      const result = {
        content: [textBlock(searchTexts.callFault)],
        isError: true,
        ...(session === undefined && { resultType: 'complete' }),
      };
      call.reply.body(200, resultReply(asked.idText, result));
      return;
    }
    const edit = new MessageEdit(asked).setSubject(name);
    edit.setAt(
      ['params', 'arguments'],
      args === undefined ? undefined : argumentsText(asked.bytes),
    );
    const sent = readMessage(edit.bytes()) as McpRequest;
    if (session !== undefined) return ask(call, sent);
    // What a direct call would repeat in headers, nobody could know to repeat.
    const { tools } = await this.#tools(call, asked, session, ask);
    const schema = tools.find((tool) => tool.name === name)?.definition.inputSchema;
    const { headers: marks = [] } = schema === undefined ? {} : readParamHeaders(schema);
    const { exchange } = call;
    const { arrival } = exchange;
    const kept = Object.entries(arrival.headers).filter(([each]) => !each.startsWith('mcp-param-'));
    const headers = { ...Object.fromEntries(kept), ...paramHeadersFor(marks, args) };
    exchange.arrival = { ...arrival, headers };
    return ask(call, sent);
  }

  /** All tools as this caller sees them. */
  async #tools(
    call: McpCall,
    asked: McpRequest,
    session: string | undefined,
    ask: Ask,
  ): Promise<Found> {
    const { principal, key, exchange } = call;
    const owner = [session ?? '', principal, key.source.id, this.#stateOf(call), exchange.metadata];
    const name = JSON.stringify([...owner, asked.meta?.[metaKeys.clientCapabilities] ?? null]);
    const kept = this.#kept.use(name);
    if (kept !== undefined && kept.until > performance.now()) return kept;
    const found = await this.#listed(call, asked, session === undefined, ask);
    const size = found.tools.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (size <= keptBytesMax) this.#kept.set(name, found);
    return found;
  }

  async #listed(call: McpCall, asked: McpRequest, isModern: boolean, ask: Ask): Promise<Found> {
    const tools = new Map<string, PageItem>();
    const leftOut: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < pagesMax && tools.size < toolsMax; page += 1) {
      const plain = listRequest(asked, kind.method, cursor);
      const request = isModern ? hearingWarnings(plain) : plain;
      const reply = new HeardReply(call.reply, {
        message(message) {
          if (message.kind !== 'notification' || message.method !== 'notifications/message')
            return true;
          const { logger, data } = message.params ?? {};
          if (logger === 'sluice') leftOut.push(String(data));
          return true;
        },
      });
      await ask({ ...call, reply }, request);
      const answer = reply.answerTo(request);
      if (answer.kind === 'error')
        throw new McpFault({ status: 200, ...answer.error, idText: asked.idText });
      addNew(tools, itemsOfPage(answer, kind), toolsMax);
      const { nextCursor } = answer.result;
      if (typeof nextCursor !== 'string') break;
      cursor = nextCursor;
    }
    return { tools: [...tools.values()], leftOut, until: performance.now() + keptMs };
  }
}

function find(tools: readonly PageItem[], { query, limit }: JsonObject): JsonObject | string {
  const isLimit = limit === undefined || (Number.isInteger(limit) && (limit as number) >= 1);
  if (typeof query !== 'string' || query.trim() === '' || query.length > queryMax || !isLimit)
    return searchTexts.findFault;
  const found = searchTools(tools, query);
  const most = Math.min(limitMax, (limit as number | undefined) ?? limitDefault);
  return {
    tools: found.slice(0, most).map(({ name, definition }) => brief(name, definition)),
    found: found.length,
    of: tools.length,
  };
}

function describe(tools: readonly PageItem[], { names }: JsonObject): JsonObject | string {
  const isList =
    Array.isArray(names) &&
    names.length >= 1 &&
    names.length <= namesMax &&
    names.every((name) => typeof name === 'string');
  if (!isList) return searchTexts.describeFault;
  const known = new Map(tools.map((tool) => [tool.name, tool.definition]));
  return {
    tools: names.flatMap((name) => known.get(name as string) ?? []),
    unknown: names.filter((name) => !known.has(name as string)),
  };
}

function brief(name: string, { title, description }: JsonObject): JsonObject {
  const text = typeof description === 'string' ? description : '';
  return {
    name,
    ...(typeof title === 'string' && { title }),
    description: text.length > briefMax ? `${text.slice(0, briefMax).toWellFormed()}…` : text,
  };
}

function withText(structuredContent: JsonObject): JsonObject {
  return { content: [textBlock(JSON.stringify(structuredContent))], structuredContent };
}

function textBlock(text: string): JsonObject {
  return { type: 'text', text };
}

/** Of a call of `call_tool` the tool's own arguments, with the bytes that they have. */
function argumentsText(bytes: Buffer): string | undefined {
  let span: { start: number; end: number } | undefined = { start: 0, end: bytes.length };
  for (const step of ['params', 'arguments', 'arguments'])
    span = span && memberSpans(bytes, span.start).findLast(({ key }) => key === step);
  return span && bytes.toString('utf8', span.start, span.end);
}

function hearingWarnings(request: McpRequest): McpRequest {
  const edit = new MessageEdit(request).setMeta(metaKeys.logLevel, 'warning');
  return readMessage(edit.bytes()) as McpRequest;
}

function invalidParams({ idText }: McpRequest, message: string): McpFault {
  return new McpFault({ status: 200, code: rpcCodes.invalidParams, message, idText });
}
