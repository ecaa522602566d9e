import { hash } from 'node:crypto';
import { McpFault, rpcCodes } from '@sluice/mcp';
import { config } from '@sluice/proto-stubs';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource } from '../held/config-source.ts';
import type { McpCall } from './mcp-call.ts';
import { SignInNeeded } from './sign-in-needed.ts';

export interface UpstreamTokensOptions {
  readonly ask: ConfigSource['upstreamToken'];
  readonly countMax?: number;
  readonly now?: () => number;
}

/** Of a call, whose token it is made with. */
export type TokenCall = Pick<McpCall, 'server' | 'key' | 'bundle' | 'base'>;

interface Held {
  readonly version: string;
  /** Where the server was. */
  readonly url: string;
  readonly token: string;
  readonly heldAtMs: number;
  /** It was asked for because the one before was refused. */
  readonly isReplacement: boolean;
  readonly expiresAtMs: number;
  /** From then on another one is asked for. */
  renewsAtMs: number;
}

/** Why the control plane gave none. */
interface Fault {
  readonly code: string;
  readonly message: string;
}

interface Refusal {
  readonly version: string;
  readonly fault: Fault;
  readonly untilMs: number;
}

/** A token that a server did not take as it is. */
interface Refused {
  readonly token: string;
  /** What it wanted besides; empty = it did not take it at all. */
  readonly wantedScope: string;
}

/** A replacement that is refused sooner than that is not the reason. The first one may have been the control plane's for long. */
const refusedAfterMs = 3_000;
/** After a failure nobody asks for so long. */
const restMs = 5_000;
const wantedScopeMax = 1_000;

/**
 * Tokens that servers know this gateway, or each of its users, by: from the control plane, held until shortly before they expire, so that
 * while it is away what is held still works. What is held of a user is found by nobody else's call: a name has the server, the user, and
 * the mark of their last sign-in or sign-out.
 */
export class UpstreamTokens {
  readonly #ask: ConfigSource['upstreamToken'];
  readonly #countMax: number;
  readonly #now: () => number;
  /** By `nameOf`; the first is the one that was asked for longest ago. */
  readonly #held = new Map<string, Held>();
  readonly #refusals = new Map<string, Refusal>();
  readonly #asking = new Map<string, Promise<string>>();

  constructor({ ask, countMax = 20_000, now = Date.now }: UpstreamTokensOptions) {
    this.#ask = ask;
    this.#countMax = countMax;
    this.#now = now;
  }

  /** Undefined = the server wants none. @throws McpFault why there is none; SignInNeeded */
  tokenFor(call: TokenCall): Promise<string> | string | undefined {
    if (!needsToken(call.server)) return undefined;
    const held = this.#current(call);
    if (held !== undefined && this.#now() < held.renewsAtMs) return held.token;
    return this.#renewed(call, held ?? this.#ofBefore(call), undefined);
  }

  /** Another one, after the server did not take this one; undefined = there is no use in that. @throws McpFault, SignInNeeded */
  tokenAfter(call: TokenCall, refused: string): Promise<string> | string | undefined {
    const held = this.#current(call);
    if (held !== undefined && held.token !== refused) return held.token;
    if (held?.isReplacement === true && this.#now() - held.heldAtMs < refusedAfterMs) {
      if (isOfUser(call.server)) throw new SignInNeeded(call);
      return undefined;
    }
    this.#held.delete(nameOf(call));
    return this.#renewed(call, undefined, { token: refused, wantedScope: '' });
  }

  /**
   * One that lets its user do more, after the server wanted these scopes as well; undefined = there is no use in that. The one that is held
   * stays: it works for the rest. @throws SignInNeeded, McpFault
   */
  async tokenWith(
    call: TokenCall,
    refused: string,
    wantedScope: string,
  ): Promise<string | undefined> {
    if (!isOfUser(call.server) || wantedScope.length > wantedScopeMax) return undefined;
    const held = this.#current(call);
    if (held !== undefined && held.token !== refused) return held.token;
    const given = await this.#askFor(call, { token: refused, wantedScope });
    if (typeof given === 'string') return given;
    if (given.code === 'insufficient_scope') return undefined;
    throw faultOf(call, given);
  }

  #current(call: TokenCall): Held | undefined {
    const held = this.#held.get(nameOf(call));
    return held?.version === call.server.version && this.#now() < held.expiresAtMs
      ? held
      : undefined;
  }

  /** What is held of the server as it was before something about it changed, such as its pins, for as long as it is where it was. */
  #ofBefore(call: TokenCall): Held | undefined {
    const held = this.#held.get(nameOf(call));
    return held?.url === call.server.source.url && this.#now() < held.expiresAtMs
      ? held
      : undefined;
  }

  async #renewed(
    call: TokenCall,
    held: Held | undefined,
    refused: Refused | undefined,
  ): Promise<string> {
    try {
      return await this.#askOnce(call, refused);
    } catch (error) {
      // It works until it expires, whoever is away. What was changed may be the reason why there is none any more.
      if (held === undefined) throw error;
      if (held.version !== call.server.version && !isUnreachable(error)) throw error;
      held.renewsAtMs = this.#now() + restMs;
      return held.token;
    }
  }

  #askOnce(call: TokenCall, refused: Refused | undefined): Promise<string> {
    const { version } = call.server;
    const name = nameOf(call);
    const refusal = this.#refusals.get(name);
    if (refusal?.version === version && this.#now() < refusal.untilMs)
      throw faultOf(call, refusal.fault);
    const key = `${name} ${version}`;
    const running = this.#asking.get(key);
    if (running !== undefined) return running;
    const asking = this.#askAndRest(call, refused).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asking);
    return asking;
  }

  async #askAndRest(call: TokenCall, refused: Refused | undefined): Promise<string> {
    const given = await this.#askFor(call, refused);
    const name = nameOf(call);
    if (typeof given === 'string') {
      this.#refusals.delete(name);
      return given;
    }
    const untilMs = this.#now() + restMs;
    const { version } = call.server;
    keep(this.#refusals, this.#countMax, name, { version, fault: given, untilMs });
    throw faultOf(call, given);
  }

  /** The token, which is held from now on, or why there is none. */
  async #askFor(call: TokenCall, refused: Refused | undefined): Promise<string | Fault> {
    const { source, version } = call.server;
    if (isOfUser(call.server) && !isPerson(call.key)) return nobody;
    const { accessToken, expiresInMs, renewInMs, fault } = await this.#ask({
      serverId: source.id,
      refusedSha256:
        refused === undefined ? Buffer.alloc(0) : hash('sha256', refused.token, 'buffer'),
      userId: isOfUser(call.server) ? call.key.source.userId : '',
      wantedScope: refused?.wantedScope ?? '',
    }).catch(() => unreachable);
    if (accessToken === '')
      return {
        code: fault?.code ?? 'no_token',
        message: fault?.message ?? 'The control plane gave none.',
      };
    const atMs = this.#now();
    keep(this.#held, this.#countMax, nameOf(call), {
      version,
      url: source.url,
      token: accessToken,
      heldAtMs: atMs,
      isReplacement: refused !== undefined,
      expiresAtMs: atMs + expiresInMs,
      renewsAtMs: atMs + renewInMs,
    });
    return accessToken;
  }
}

const nobody: Fault = {
  code: 'no_user',
  message: 'Each user signs in at it, and this key or JWT stands for no user.',
};

function isUnreachable(error: unknown): boolean {
  return (
    error instanceof McpFault &&
    (error.data as { error?: unknown } | undefined)?.error === 'unavailable'
  );
}

const unreachable = {
  accessToken: '',
  expiresInMs: 0,
  renewInMs: 0,
  fault: { code: 'unavailable', message: 'The control plane cannot be asked for it.' },
};

export function needsToken({ source }: CompiledMcpServer): boolean {
  return source.authType === 'oauth_client_credentials' || source.authType === 'oauth_auto';
}

/** Whether the server knows each user by a token of their own. */
export function isOfUser({ source }: CompiledMcpServer): boolean {
  return source.authType === 'oauth_auto';
}

/** Whether a key is somebody's own; what a JWT says of its user is no user of ours. */
export function isPerson({ source }: ResolvedKey): boolean {
  return source.type === config.KeyType.WORKSPACE_USER && source.userId !== '';
}

function nameOf({ server, key }: TokenCall): string {
  const { id } = server.source;
  if (!isOfUser(server)) return id;
  const { organisationId, workspaceId, userId, signInMark } = key.source;
  return `${id} ${organisationId} ${workspaceId} ${userId} ${signInMark}`;
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

function faultOf(call: TokenCall, { code, message }: Fault): McpFault {
  if (code === 'sign_in_required') return new SignInNeeded(call);
  return new McpFault({
    status: 502,
    code: rpcCodes.internalError,
    message: `The gateway has no token for the MCP server: ${message}`,
    data: { reason: 'upstream_sign_in', error: code },
  });
}
