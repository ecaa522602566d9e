import { GatewayError } from '@sluice/errors';
import {
  type McpRequest,
  metaKeys,
  modernVersions,
  readMessage,
  requestHeaders,
  rpcCodes,
} from '@sluice/mcp';
import { RecentMap } from '../chain/recent-map.ts';
import type { McpCall } from './mcp-call.ts';
import { askServer, readAnswer, statusFault } from './server-reply.ts';
import type { UpstreamDeps } from './upstream.ts';
import { isOfUser } from './upstream-tokens.ts';

/** A server that was updated is asked again after so long, or when it answers as if it were another. */
const knownMs = 300_000;
const serversMax = 10_000;
const [version = ''] = modernVersions;

/** What a gateway says of itself where it asks by itself. */
export const ownName = { name: 'sluice', version: '1' } as const;

interface Known {
  readonly isModern: boolean;
  readonly until: number;
}

/** Which servers speak 2026-07-28: asked once, by the request that the revision has for it. */
export class Eras {
  readonly #deps: UpstreamDeps;
  readonly #known = new RecentMap<Known>(serversMax);
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(deps: UpstreamDeps) {
    this.#deps = deps;
  }

  /** @throws GatewayError, McpFault when it cannot be asked: silence says nothing of an era */
  isModern(call: McpCall): boolean | Promise<boolean> {
    const { source, version: state } = call.server;
    if (source.transport === 'sse') return false;
    const known = this.#known.use(state);
    if (known !== undefined && known.until > performance.now()) return known.isModern;
    // Where each user has to sign in, who has not says nothing for the others.
    const asker = isOfUser(call.server) ? `${state} ${call.key.source.userId}` : state;
    const running = this.#asking.get(asker);
    if (running !== undefined) return running;
    const asking = this.#ask(call)
      .then((isModern) => {
        this.#known.set(state, { isModern, until: performance.now() + knownMs });
        return isModern;
      })
      .finally(() => this.#asking.delete(asker));
    this.#asking.set(asker, asking);
    return asking;
  }

  /** It answered as if it were of the other era. */
  forget({ server }: McpCall): void {
    this.#known.delete(server.version);
  }

  async #ask(call: McpCall): Promise<boolean> {
    const asked = discovery({});
    const headers = requestHeaders(asked.method, asked.params, version);
    // Others wait for it, too: who began it may leave.
    const signal = AbortSignal.timeout(this.#deps.timeoutMs);
    const asking = askServer(call, 'POST', headers, asked.bytes, signal, this.#deps);
    const upstream = await asking.catch((error: unknown) => {
      // Of a signal of our own: no caller has left.
      throw signal.aborted ? new GatewayError('upstream.timeout', { cause: error }) : error;
    });
    const { status } = upstream;
    if (status >= 500 || status === 401 || status === 403 || status === 429)
      throw statusFault(status);
    const reply = await readAnswer(upstream, asked).catch(() => undefined);
    if (reply?.kind === 'response') return Array.isArray(reply.result.supportedVersions);
    return reply?.error.code === rpcCodes.unsupportedVersion;
  }
}

/** `server/discover`, for somebody with these capabilities. */
export function discovery(capabilities: object, clientInfo: object = ownName): McpRequest {
  const _meta = {
    [metaKeys.protocolVersion]: version,
    [metaKeys.clientCapabilities]: capabilities,
    [metaKeys.clientInfo]: clientInfo,
  };
  return readMessage(
    Buffer.from(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 'sluice-discover',
        method: 'server/discover',
        params: { _meta },
      }),
    ),
  ) as McpRequest;
}
