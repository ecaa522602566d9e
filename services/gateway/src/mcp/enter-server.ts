import type { Exchange } from '../exchange/exchange.ts';
import type { ToolCall } from '../exchange/subject.ts';
import { claimsOfCaller, type Identities, type IdentityPlan } from '../identity/tell-identity.ts';
import type { Access } from './access.ts';
import type { McpIdentity } from './access-tokens.ts';
import type { CallReply } from './caller-reply.ts';
import { type McpCall, principalOf, principalOfUser } from './mcp-call.ts';
import { unserved } from './unserved.ts';
import { headerPlan } from './upstream-headers.ts';
import { isOfUser, isPerson } from './upstream-tokens.ts';
import { asksForUser, type UserTokens } from './user-tokens.ts';

/** Who decides on whoever wants to reach a server, whichever way they come. */
export interface EnterParts {
  readonly access: Access;
  readonly userTokens: UserTokens;
  readonly identities: Identities;
}

/** Somebody who is authenticated, at the door of a server. */
export interface Entering {
  readonly address: { readonly server: string; readonly workspace?: string | undefined };
  readonly exchange: Exchange & { subject: ToolCall };
  /** What a token lets its client do; undefined = a key or a JWT. */
  readonly identity: McpIdentity | undefined;
  /** The origin that browsers reach this gateway at; undefined = nobody said. */
  readonly base: string | undefined;
  readonly reply: CallReply;
  readonly signal: AbortSignal;
}

/** The server that is asked for, with all that its calls are made with. @throws GatewayError, AccessFault, UserTokenFault */
export function enterServer(entering: Entering, parts: EnterParts): McpCall | Promise<McpCall> {
  return withCaller(entered(entering, parts.access), parts);
}

/** The call with all that its server asks of who calls, and is told of them. @throws UserTokenFault, GatewayError */
export function withCaller(
  call: McpCall,
  { userTokens, identities }: Omit<EnterParts, 'access'>,
): McpCall | Promise<McpCall> {
  const { identity } = headerPlan(call.server);
  const told = (known: McpCall) =>
    identity === undefined ? known : withIdentity(known, identity, identities);
  // Nobody waits for what most servers do not ask for.
  return asksForUser(call.server) ? withUser(call, userTokens).then(told) : told(call);
}

/** The server that is asked for, where it may be: nobody is asked. @throws GatewayError, AccessFault */
export function entered(
  { address, base, exchange, identity, reply, signal }: Entering,
  access: Access,
): McpCall {
  const { key, bundle } = exchange;
  if (key === undefined || bundle === undefined) throw new Error('nobody was let in');
  const { workspace } = address;
  if (workspace !== undefined && workspace !== bundle.source.workspaceSlug)
    throw new AccessFault(403, 'forbidden', 'This credential is of another workspace.');
  const server = bundle.mcpServer(address.server);
  if (server === undefined) throw new AccessFault(404, 'not_found', 'server not found');
  // Of one whose policy cannot be read everything is denied, and that is said.
  const refused = server.policyIsUnread ? undefined : access.denyServer(server, key);
  if (refused !== undefined) throw new AccessFault(403, 'forbidden', refused);
  const why = unserved(server);
  if (why !== undefined) throw new AccessFault(503, 'temporarily_unavailable', why);
  if (isOfUser(server) && !isPerson(key))
    throw new AccessFault(
      403,
      'forbidden',
      'Each user signs in at this MCP server: call it with a user key of the workspace, or log in. A service key, or a JWT, stands for nobody there.',
    );
  const principal = principalOf(key);
  return { exchange, key, bundle, server, identity, principal, told: {}, base, reply, signal };
}

/** With the end user's own token, where the server asks for one: what they begin is theirs, not of all who share a key. @throws UserTokenFault */
async function withUser(call: McpCall, userTokens: UserTokens): Promise<McpCall> {
  const { arrival } = call.exchange;
  const user = await userTokens.check(call.server, {
    headers: arrival.headers,
    credential: arrival.caller.serviceKey,
    from: arrival.callerAddress(),
  });
  if (user === undefined) return call;
  const { iss, sub = user.text } = user.claims;
  return { ...call, user, principal: principalOfUser(call.principal, iss, sub) };
}

/** With what the server is told of who calls. @throws GatewayError */
async function withIdentity(
  call: McpCall,
  plan: IdentityPlan,
  identities: Identities,
): Promise<McpCall> {
  const { server, key, bundle, identity, user, exchange } = call;
  const told = await identities.headers(plan, {
    claims: claimsOfCaller(key, bundle, identity),
    audience: server.source.url,
    userToken: user?.text,
    credential: exchange.arrival.caller.serviceKey,
  });
  return { ...call, told };
}

/** A refusal before there is a message to answer. */
export class AccessFault extends Error {
  readonly status: number;
  readonly error: string;
  /** What to log in for. */
  readonly scope: string | undefined;

  constructor(status: number, error: string, description: string, scope?: string) {
    super(description);
    this.status = status;
    this.error = error;
    this.scope = scope;
  }
}
