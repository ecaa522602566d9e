import { hash } from 'node:crypto';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ToolCall } from '../exchange/subject.ts';
import type { McpIdentity } from './access-tokens.ts';
import type { CallReply } from './caller-reply.ts';
import type { UserToken } from './user-tokens.ts';

export { principalOf } from '../exchange/principal.ts';

/** One request to an MCP server by somebody who is known and may ask it. */
export interface McpCall {
  readonly exchange: Exchange & { subject: ToolCall };
  readonly key: ResolvedKey;
  readonly bundle: CompiledBundle;
  readonly server: CompiledMcpServer;
  /** What a token lets its client do; undefined = a key or a JWT called. */
  readonly identity?: McpIdentity | undefined;
  /** The end user's own token, where the server asks for one. */
  readonly user?: UserToken | undefined;
  /** The header that tells the server who calls. */
  readonly told: Readonly<Record<string, string>>;
  /** Whom sessions, tasks and states belong to. */
  readonly principal: string;
  /** The merged server that it came through, and what callers of that call what is asked for. */
  readonly via?: { readonly slug: string; readonly calledAs?: string | undefined } | undefined;
  /** The origin that browsers and clients reach this gateway at; undefined = nobody said. */
  readonly base: string | undefined;
  readonly reply: CallReply;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
}

/** Users who share a key are told apart by what their issuer says of them. */
export function principalOfUser(principal: string, issuer: unknown, subject: unknown): string {
  const user = hash('sha256', JSON.stringify([issuer ?? null, subject ?? null]), 'base64url');
  return `${principal}:${user}`;
}
