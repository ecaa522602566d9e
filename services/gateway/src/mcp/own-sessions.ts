import { hash, randomUUID } from 'node:crypto';
import type { JsonObject } from '@sluice/contracts';
import {
  clientCapabilities,
  legacyVersions,
  type McpRequest,
  metaKeys,
  readMessage,
} from '@sluice/mcp';
import { ownName } from './eras.ts';
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
import type { UpstreamDeps } from './upstream.ts';

/** A session with a server of the older era that the gateway began by itself. */
export interface OwnSession {
  readonly side: UpstreamSide;
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

  /** Runs something with a session, which is not retired meanwhile. `begin` anew where the server forgot it. */
  async use<T>(
    call: McpCall,
    asked: McpRequest,
    run: (session: OwnSession, renew: () => Promise<OwnSession>) => Promise<T>,
  ): Promise<T> {
    const isAlone = !this.#limits.isShared || call.server.configurations.disablePooling === true;
    const key = isAlone ? randomUUID() : keyOf(call, asked);
    const pooled = this.#pooled(key, call, asked, isAlone);
    const used = new Set([pooled]);
    pooled.running += 1;
    try {
      const session = await pooled.begun;
      return await run(session, () => {
        if (this.#pool.get(key) === pooled) this.#pool.delete(key);
        session.ended.abort();
        const renewed = this.#pooled(key, call, asked, isAlone);
        if (!used.has(renewed)) {
          used.add(renewed);
          renewed.running += 1;
        }
        return renewed.begun;
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
      (session) => this.#pooledOf.set(session, pooled),
      // What could not be begun is not kept; whoever waits is told.
      () => {
        if (this.#pool.get(key) === pooled) this.#pool.delete(key);
      },
    );
    this.#pool.set(key, pooled);
    return pooled;
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
    const signal = AbortSignal.timeout(this.#deps.timeoutMs);
    const upstream = await askServer(call, 'POST', {}, asked.bytes, signal, this.#deps);
    const reply = await readAnswer(upstream, asked);
    if (reply.kind === 'error') {
      this.#onRefused(call);
      throw invalidReply(asked, `it begins no session: ${reply.error.message}`);
    }
    const { protocolVersion } = reply.result;
    const id = upstream.headers['mcp-session-id'];
    const side = {
      id: typeof id === 'string' ? id : '',
      revision: typeof protocolVersion === 'string' ? protocolVersion : String(legacyVersions[0]),
    };
    await this.tell(call, side, { method: 'notifications/initialized' }, signal);
    const level = meta?.[metaKeys.logLevel];
    if (typeof level === 'string')
      await this.tell(
        call,
        side,
        { id: 'sluice-level', method: 'logging/setLevel', params: { level } },
        signal,
      );
    return { side, hello: reply.result, ended: new AbortController() };
  }

  /** What is answered to a request in a session. @throws McpFault, GatewayError */
  async ask(
    call: McpCall,
    { id, revision }: UpstreamSide,
    asked: McpRequest,
    signal: AbortSignal,
  ): Promise<ServerReply> {
    const headers = sessionHeaders({ upstreamId: id, revision });
    return readAnswer(
      await askServer(call, 'POST', headers, asked.bytes, signal, this.#deps),
      asked,
    );
  }

  /** Sends what needs no answer. */
  async tell(
    call: McpCall,
    side: UpstreamSide,
    message: object,
    signal: AbortSignal,
  ): Promise<void> {
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    const headers = sessionHeaders({ upstreamId: side.id, revision: side.revision });
    const upstream = await askServer(call, 'POST', headers, bytes, signal, this.#deps);
    await upstream.readAll(smallBodyMax);
  }

  /** The server is told that nobody needs it any more. */
  end(call: McpCall, { id, revision }: UpstreamSide): void {
    if (id === '') return;
    const headers = sessionHeaders({ upstreamId: id, revision });
    const signal = AbortSignal.timeout(endMs);
    askServer(call, 'DELETE', headers, undefined, signal, this.#deps)
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
    const { key, begun, call } = pooled;
    if (this.#pool.get(key) === pooled) this.#pool.delete(key);
    begun.then(
      ({ side, ended }) => {
        ended.abort();
        this.end(call, side);
      },
      () => undefined,
    );
  }
}

function keyOf({ principal, server, key }: McpCall, { meta }: McpRequest): string {
  const identity = [
    principal,
    key.source.id,
    server.version,
    meta?.[metaKeys.clientCapabilities] ?? {},
    meta?.[metaKeys.clientInfo] ?? {},
    meta?.[metaKeys.logLevel] ?? '',
  ];
  return hash('sha256', JSON.stringify(identity), 'base64url');
}
