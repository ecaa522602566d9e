import { Chain, type Linked } from '../chain/chain.ts';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { Access } from './access.ts';
import type { McpCall } from './mcp-call.ts';
import { isOfUser } from './upstream-tokens.ts';

/** Changes bite, and are told, within so long. */
const lookMs = 400;
const keepAliveMs = 15_000;

/** Of a stream that is kept open to hear of changes. Others are answers, which end by themselves. */
export interface Listener {
  /** Events that tell that lists have changed. */
  changed(): Buffer;
  /** What decides about lists, where that is more than the server alone: another text, another list. */
  stateOf?(bundle: CompiledBundle, server: CompiledMcpServer): string;
  /** What it ends with. */
  goodbye(): Buffer | undefined;
}

interface OpenStream extends Linked<OpenStream> {
  readonly call: McpCall;
  readonly listener: Listener | undefined;
  state: string;
  quietMs: number;
  isOpen: boolean;
}

export interface OpenMcpStreamsOptions {
  readonly store: Pick<ConfigStore, 'bundle' | 'heldNow'>;
  readonly isDraining: () => boolean;
  readonly access: Access;
}

/**
 * All streams that are open to clients of MCP: kept alive by comments, told when
 * what they may see has changed, and ended when they may see it no more.
 */
export class OpenMcpStreams {
  readonly #options: OpenMcpStreamsOptions;
  readonly #streams = new Chain<OpenStream>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OpenMcpStreamsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#streams.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), lookMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  gauges() {
    return [
      {
        name: 'sluice_mcp_open_streams',
        help: 'Streams that are open to clients of MCP servers',
        read: () => this.size,
      },
    ];
  }

  /** @returns what is called once, when it has ended however it did */
  open(call: McpCall, listener: Listener | undefined): () => void {
    const state = stateOf(listener, call.bundle, call.server);
    const stream: OpenStream = {
      call,
      listener,
      state,
      quietMs: 0,
      isOpen: true,
      older: undefined,
      newer: undefined,
    };
    this.#streams.add(stream);
    return () => {
      stream.isOpen = false;
      this.#streams.delete(stream);
    };
  }

  #look(): void {
    // The end of one may end others.
    for (const stream of [...this.#streams]) {
      if (!stream.isOpen) continue;
      stream.quietMs += lookMs;
      if (stream.listener !== undefined) this.#lookAt(stream, stream.listener);
      if (stream.quietMs < keepAliveMs) continue;
      stream.quietMs = 0;
      stream.call.reply.keepAlive();
    }
  }

  #lookAt(stream: OpenStream, listener: Listener): void {
    const { call } = stream;
    const state = this.#stateNow(call, listener);
    if (state === undefined) {
      const goodbye = listener.goodbye();
      if (goodbye !== undefined) call.reply.write(goodbye);
      call.reply.endStream();
      return;
    }
    if (state === stream.state) return;
    stream.state = state;
    call.reply.write(listener.changed());
  }

  /** Undefined = the caller may not listen any more. */
  #stateNow(
    { key: then, identity, server, exchange, bundle: bundleThen }: McpCall,
    listener: Listener,
  ): string | undefined {
    const { store, isDraining, access } = this.#options;
    if (isDraining()) return undefined;
    // A JWT is nobody's to take back: it ends by itself.
    const key = 'validUntilMs' in then ? then : store.heldNow(then);
    if (key === undefined || !mayCall(key, exchange)) return undefined;
    const nowMs = Date.now();
    if (key.expiresAtMs !== 0 && key.expiresAtMs <= nowMs) return undefined;
    if (identity !== undefined && identity.expiresAtMs <= nowMs) return undefined;
    const bundle = store.bundle(key.source.workspaceId);
    if (bundle instanceof Promise) {
      // It is being fetched, and what was in force still is.
      bundle.catch(() => undefined);
      return stateOf(listener, bundleThen, server);
    }
    const now = bundle.mcpServer(server.source.id);
    if (now === undefined || access.denyServer(now, key) !== undefined) return undefined;
    // Signed out at the server, or in anew: the stream is of the token of before.
    if (key.source.signInMark !== then.source.signInMark && isSignedInAt(bundle, now))
      return undefined;
    return stateOf(listener, bundle, now);
  }
}

function mayCall({ scopes }: ResolvedKey, { subject }: McpCall['exchange']): boolean {
  return subject.operation.scopes.some((scope) => scopes.has(scope));
}

/** Whether users sign in at it, or at one of those that it is made of. */
function isSignedInAt(bundle: CompiledBundle, server: CompiledMcpServer): boolean {
  return (
    isOfUser(server) ||
    server.source.members.some(({ serverId }) => {
      const member = bundle.mcpServer(serverId);
      return member !== undefined && isOfUser(member);
    })
  );
}

function stateOf(
  listener: Listener | undefined,
  bundle: CompiledBundle,
  server: CompiledMcpServer,
): string {
  return listener?.stateOf?.(bundle, server) ?? server.shown;
}
