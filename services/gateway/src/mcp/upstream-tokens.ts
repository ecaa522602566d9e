import { hash } from 'node:crypto';
import { McpFault, rpcCodes } from '@sluice/mcp';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ConfigSource } from '../held/config-source.ts';

export interface UpstreamTokensOptions {
  readonly ask: ConfigSource['upstreamToken'];
  readonly countMax?: number;
  readonly now?: () => number;
}

interface Held {
  readonly version: string;
  readonly token: string;
  readonly heldAtMs: number;
  /** It was asked for because the one before was refused. */
  readonly isReplacement: boolean;
  readonly expiresAtMs: number;
  /** From then on another one is asked for. */
  renewsAtMs: number;
}

interface Refusal {
  readonly version: string;
  readonly fault: McpFault;
  readonly untilMs: number;
}

/** A replacement that is refused sooner than that is not the reason. The first one may have been the control plane's for long. */
const refusedAfterMs = 3_000;
/** After a failure nobody asks for so long. */
const restMs = 5_000;

/**
 * Tokens that servers know this gateway by, from the control plane, held until shortly before they expire: while it is away, what is
 * held still works.
 */
export class UpstreamTokens {
  readonly #ask: ConfigSource['upstreamToken'];
  readonly #countMax: number;
  readonly #now: () => number;
  /** By the server's id; the first is the one that was asked for longest ago. */
  readonly #held = new Map<string, Held>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #asking = new Map<string, Promise<string>>();

  constructor({ ask, countMax = 10_000, now = Date.now }: UpstreamTokensOptions) {
    this.#ask = ask;
    this.#countMax = countMax;
    this.#now = now;
  }

  /** Undefined = the server wants none. @throws McpFault why there is none */
  tokenFor(server: CompiledMcpServer): Promise<string> | string | undefined {
    if (!needsToken(server)) return undefined;
    const held = this.#current(server);
    if (held !== undefined && this.#now() < held.renewsAtMs) return held.token;
    return this.#renewed(server, held, undefined);
  }

  /** Another one, after the server did not take this one; undefined = there is no use in that. @throws McpFault */
  tokenAfter(server: CompiledMcpServer, refused: string): Promise<string> | string | undefined {
    const held = this.#current(server);
    if (held !== undefined && held.token !== refused) return held.token;
    if (held?.isReplacement === true && this.#now() - held.heldAtMs < refusedAfterMs)
      return undefined;
    this.#held.delete(server.source.id);
    return this.#renewed(server, undefined, refused);
  }

  #current({ source, version }: CompiledMcpServer): Held | undefined {
    const held = this.#held.get(source.id);
    return held?.version === version && this.#now() < held.expiresAtMs ? held : undefined;
  }

  async #renewed(
    server: CompiledMcpServer,
    held: Held | undefined,
    refused: string | undefined,
  ): Promise<string> {
    try {
      return await this.#askOnce(server, refused);
    } catch (error) {
      // It works until it expires, whoever is away.
      if (held === undefined) throw error;
      held.renewsAtMs = this.#now() + restMs;
      return held.token;
    }
  }

  #askOnce(server: CompiledMcpServer, refused: string | undefined): Promise<string> {
    const { source, version } = server;
    const refusal = this.#refusals.get(source.id);
    if (refusal?.version === version && this.#now() < refusal.untilMs) throw refusal.fault;
    const key = `${source.id} ${version}`;
    const running = this.#asking.get(key);
    if (running !== undefined) return running;
    const asking = this.#askFor(server, refused).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #askFor({ source, version }: CompiledMcpServer, refused: string | undefined) {
    try {
      const { accessToken, expiresInMs, renewInMs, fault } = await this.#ask({
        serverId: source.id,
        refusedSha256: refused === undefined ? Buffer.alloc(0) : hash('sha256', refused, 'buffer'),
      });
      if (accessToken === '')
        throw noToken(fault?.message ?? 'The control plane gave none.', fault?.code ?? 'no_token');
      const atMs = this.#now();
      keep(this.#held, this.#countMax, source.id, {
        version,
        token: accessToken,
        heldAtMs: atMs,
        isReplacement: refused !== undefined,
        expiresAtMs: atMs + expiresInMs,
        renewsAtMs: atMs + renewInMs,
      });
      this.#refusals.delete(source.id);
      return accessToken;
    } catch (error) {
      const fault =
        error instanceof McpFault
          ? error
          : noToken('The control plane cannot be asked for it.', 'unavailable');
      const untilMs = this.#now() + restMs;
      keep(this.#refusals, this.#countMax, source.id, { version, fault, untilMs });
      throw fault;
    }
  }
}

export function needsToken({ source }: CompiledMcpServer): boolean {
  return source.authType === 'oauth_client_credentials';
}

/** Maps keep insertion order: the first is the oldest. */
function keep<T>(map: Map<string, T>, countMax: number, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= countMax) return;
    map.delete(oldest);
  }
}

function noToken(why: string, error: string): McpFault {
  return new McpFault({
    status: 502,
    code: rpcCodes.internalError,
    message: `The gateway has no token for the MCP server: ${why}`,
    data: { reason: 'upstream_sign_in', error },
  });
}
