import { hash, randomUUID } from 'node:crypto';
import type { JsonObject } from '@sluice/contracts';
import {
  clientCapabilities,
  legacyVersions,
  type McpMessage,
  type McpRequest,
  metaKeys,
  readMessage,
} from '@sluice/mcp';
import { type Abortable, untilAborted } from '../http/caller-gone.ts';
import { ownName } from './eras.ts';
import { askOn, openLink, postTo } from './link-calls.ts';
import type { McpCall } from './mcp-call.ts';
import {
  askServer,
  invalidReply,
  readAnswer,
  type ServerReply,
  sessionHeaders,
  smallBodyMax,
} from './server-reply.ts';
import type { UpstreamSide } from './sessions.ts';
import type { SseLink } from './sse-link.ts';
import { ownDeadline, timesOf, type UpstreamDeps } from './upstream.ts';
import { sentHeaders } from './upstream-headers.ts';

/** A session with a server of the older era that the gateway began by itself. */
export interface OwnSession {
  readonly side: UpstreamSide;
  /** Of a server of HTTP+SSE: where it tells everything. */
  readonly link: SseLink | undefined;
  /** What the server said of itself. */
  readonly hello: JsonObject;
  /** Aborted when it is over: what is open in it ends. */
  readonly ended: AbortController;
}

interface Pooled {
  readonly key: string;
  /** Ended with the calls that it was begun for. */
  readonly isAlone: boolean;
  readonly begun: Promise<OwnSession>;
  readonly call: McpCall;
  readonly begunAt: number;
  usedAt: number;
  running: number;
}

export interface PoolLimits {
  /** False = each call has a session of its own. */
  readonly isShared: boolean;
  readonly lifetimeMs: number;
  readonly idleMs: number;
  readonly sessionsMax: number;
}

const endMs = 5000;

/**
 * Sessions for callers that have none: of one caller, at one state of a server,
 * with the same capabilities. What is sent with a call is made for that call.
 */
export class OwnSessions {
  readonly #deps: UpstreamDeps;
  readonly #limits: PoolLimits;
  readonly #onRefused: (call: McpCall) => void;
  readonly #pool = new Map<string, Pooled>();
  readonly #pooledOf = new WeakMap<OwnSession, Pooled>();
  #timer: NodeJS.Timeout | undefined;

  /** @param onRefused hears of servers that begin no session: they may have no more of them */
  constructor(deps: UpstreamDeps, limits: PoolLimits, onRefused: (call: McpCall) => void) {
    this.#deps = deps;
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  start(sweepMs: number): void {
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const pooled of [...this.#pool.values()]) this.#retire(pooled);
  }

  get size(): number {
    return this.#pool.size;
  }

  /** A call of it goes on: it is not retired. @returns what is called once, when that is over */
  keep(session: OwnSession): () => void {
    const pooled = this.#pooledOf.get(session);
    if (pooled === undefined) return () => {};
    pooled.running += 1;
    return () => this.#leave(pooled);
  }

  /**
   * Runs something with a session, which is not retired meanwhile. `begin` anew where the server forgot it.
   * @param signal of whoever waits for it to be begun
   */
  async use<T>(
    call: McpCall,
    asked: McpRequest,
    signal: Abortable,
    run: (session: OwnSession, renew: () => Promise<OwnSession>) => Promise<T>,
  ): Promise<T> {
    const isAlone = !this.#limits.isShared || call.server.configurations.disablePooling === true;
    const key = isAlone ? randomUUID() : keyOf(call, asked);
    const pooled = this.#pooled(key, call, asked, isAlone);
    const used = new Set([pooled]);
    pooled.running += 1;
    try {
      const session = await untilAborted(pooled.begun, signal);
      return await run(session, () => {
        this.#drop(pooled);
        session.ended.abort();
        const renewed = this.#pooled(key, call, asked, isAlone);
        if (!used.has(renewed)) {
          used.add(renewed);
          renewed.running += 1;
        }
        return untilAborted(renewed.begun, signal);
      });
    } finally {
      for (const each of used) this.#leave(each);
    }
  }

  #leave(pooled: Pooled): void {
    pooled.running -= 1;
    pooled.usedAt = performance.now();
    if (pooled.isAlone && pooled.running === 0) this.#retire(pooled);
  }

  #pooled(key: string, call: McpCall, asked: McpRequest, isAlone: boolean): Pooled {
    const known = this.#pool.get(key);
    const now = performance.now();
    if (known !== undefined && now - known.begunAt < this.#limits.lifetimeMs) return known;
    if (known !== undefined) this.#pool.delete(key);
    this.#makeRoom();
    const pooled: Pooled = {
      key,
      isAlone,
      begun: this.begin(call, asked),
      call,
      begunAt: now,
      usedAt: now,
      running: 0,
    };
    pooled.begun.then(
      (session) => {
        this.#pooledOf.set(session, pooled);
        // Its server has ended it.
        session.link?.signal.addEventListener('abort', () => this.#drop(pooled), { once: true });
        if (session.link?.isClosed === true) this.#drop(pooled);
      },
      // What could not be begun is not kept; whoever waits is told.
      () => this.#drop(pooled),
    );
    this.#pool.set(key, pooled);
    return pooled;
  }

  #drop(pooled: Pooled): void {
    if (this.#pool.get(pooled.key) === pooled) this.#pool.delete(pooled.key);
  }

  /** A session of nobody else's; to be ended by whoever began it. */
  async begin(call: McpCall, { meta }: McpRequest): Promise<OwnSession> {
    const capabilities = clientCapabilities(meta?.[metaKeys.clientCapabilities], () => true);
    const asked = readMessage(
      Buffer.from(
        JSON.stringify({
          jsonrpc: '2.0',
          id: 'sluice-initialize',
          method: 'initialize',
          params: {
            protocolVersion: legacyVersions[0],
            capabilities,
            clientInfo: meta?.[metaKeys.clientInfo] ?? ownName,
          },
        }),
      ),
    ) as McpRequest;
    const signal = ownDeadline(timesOf(call.server, this.#deps).timeoutMs);
    const session =
      call.server.source.transport === 'sse'
        ? await this.#beginOnLink(call, asked, signal)
        : await this.#beginByPost(call, asked, signal);
    await this.tell(call, session, { method: 'notifications/initialized' }, signal);
    const level = meta?.[metaKeys.logLevel];
    if (typeof level === 'string')
      await this.tell(
        call,
        session,
        { id: 'sluice-level', method: 'logging/setLevel', params: { level } },
        signal,
      );
    return session;
  }

  async #beginByPost(call: McpCall, asked: McpRequest, signal: Abortable): Promise<OwnSession> {
    const upstream = await askServer(call, 'POST', {}, asked.bytes, signal, this.#deps);
    const hello = this.#helloIn(call, asked, await readAnswer(upstream, asked));
    const id = upstream.headers['mcp-session-id'];
    const side = { id: typeof id === 'string' ? id : '', revision: revisionOf(hello) };
    return { side, link: undefined, hello, ended: new AbortController() };
  }

  async #beginOnLink(call: McpCall, asked: McpRequest, signal: Abortable): Promise<OwnSession> {
    const ended = new AbortController();
    const link = await openLink(call, signal, this.#deps, {
      stray: () => false,
      closed: () => ended.abort(),
    });
    ended.signal.addEventListener('abort', () => link.close(), { once: true });
    try {
      const reply = await askOn(link, asked, { call, signal }, this.#deps);
      const hello = this.#helloIn(call, asked, reply);
      return { side: { id: '', revision: revisionOf(hello) }, link, hello, ended };
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /** What a server says of itself. @throws McpFault */
  #helloIn(call: McpCall, asked: McpRequest, reply: ServerReply): JsonObject {
    if (reply.kind === 'response') return reply.result;
    this.#onRefused(call);
    throw invalidReply(asked, `it begins no session: ${reply.error.message}`);
  }

  /**
   * What is answered to a request in a session.
   * @param told hears what else belongs to it, of a session with a link
   * @throws McpFault, GatewayError; SessionForgotten where its server has forgotten a session with a link
   */
  async ask(
    call: McpCall,
    { side, link }: OwnSession,
    asked: McpRequest,
    signal: Abortable,
    told?: (message: McpMessage) => boolean,
  ): Promise<ServerReply> {
    if (link !== undefined) return askOn(link, asked, { call, signal, told }, this.#deps);
    const upstream = await askServer(
      call,
      'POST',
      sideHeaders(side),
      asked.bytes,
      signal,
      this.#deps,
    );
    return readAnswer(upstream, asked);
  }

  /** Sends what needs no answer. */
  async tell(
    call: McpCall,
    { side, link }: OwnSession,
    message: object,
    signal: Abortable,
  ): Promise<void> {
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    if (link !== undefined) {
      await postTo(call, link.endpoint, bytes, signal, this.#deps);
      return;
    }
    const upstream = await askServer(call, 'POST', sideHeaders(side), bytes, signal, this.#deps);
    await upstream.readAll(smallBodyMax);
  }

  /** The server is told that nobody needs it any more. */
  end(call: McpCall, { side, link }: OwnSession): void {
    link?.close();
    if (side.id === '') return;
    const signal = AbortSignal.timeout(endMs);
    askServer(call, 'DELETE', sideHeaders(side), undefined, signal, this.#deps)
      .then((upstream) => upstream.readAll(smallBodyMax))
      // It forgets the session by itself.
      .catch(() => undefined);
  }

  #makeRoom(): void {
    if (this.#pool.size < this.#limits.sessionsMax) return;
    const idle = [...this.#pool.values()].filter(({ running }) => running === 0);
    const oldest = idle.sort((a, b) => a.usedAt - b.usedAt)[0];
    if (oldest !== undefined) this.#retire(oldest);
  }

  #sweep(): void {
    const now = performance.now();
    for (const pooled of [...this.#pool.values()]) {
      const isIdle = now - pooled.usedAt > this.#limits.idleMs;
      const isOld = now - pooled.begunAt > this.#limits.lifetimeMs;
      if (pooled.running === 0 && (isIdle || isOld)) this.#retire(pooled);
    }
  }

  #retire(pooled: Pooled): void {
    this.#drop(pooled);
    pooled.begun.then(
      (session) => {
        session.ended.abort();
        this.end(pooled.call, session);
      },
      () => undefined,
    );
  }
}

/** Of a request in a session by POST. */
export function sideHeaders({ id, revision }: UpstreamSide): Record<string, string> {
  return sessionHeaders({ upstreamId: id, revision });
}

function revisionOf({ protocolVersion }: JsonObject): string {
  return typeof protocolVersion === 'string' ? protocolVersion : String(legacyVersions[0]);
}

function keyOf({ principal, server, key, exchange, told }: McpCall, { meta }: McpRequest): string {
  const identity = [
    principal,
    key.source.id,
    server.version,
    meta?.[metaKeys.clientCapabilities] ?? {},
    meta?.[metaKeys.clientInfo] ?? {},
    meta?.[metaKeys.logLevel] ?? '',
    // What a link is opened with holds for all that is told on it.
    ...(server.source.transport === 'sse'
      ? [sentHeaders(server, exchange.arrival.headers, told)]
      : []),
  ];
  return hash('sha256', JSON.stringify(identity), 'base64url');
}
