import { fromUnknown, GatewayError } from '@sluice/errors';
import { McpFault, type McpRequest, readMessage } from '@sluice/mcp';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import { mcpEvent } from '../exchange/event.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { principalOf } from '../exchange/principal.ts';
import type { Reply } from '../exchange/reply.ts';
import { limitRefusal } from '../limits/refusal.ts';
import type { CallMeter } from '../metering/call-meter.ts';
import { type ShownKey, type ShownUse, shownKey, shownUse } from '../metering/shown-call.ts';
import { answerExplained, type WhoExplains } from '../pipeline/explain/answer-explained.ts';
import { explainedLimits } from '../pipeline/explain/explain-limits.ts';
import type { ExplainedLimit } from '../pipeline/explain/explanation.ts';
import { checkKey } from '../pipeline/stages/authenticate.ts';
import type { Access } from './access.ts';
import { unserved } from './unserved.ts';

export interface ExplainMcpDeps extends WhoExplains {
  readonly meter: CallMeter;
  readonly access: Access;
  /** Where a request to a merged server would go; undefined = nobody knows without asking. @throws McpFault where nowhere */
  readonly whose: (
    asking: Whose & { readonly principal: string },
    asked: McpRequest,
  ) => AskedMember | undefined;
}

/** A member of a merged server, and what it would be asked. */
export interface AskedMember {
  readonly server: CompiledMcpServer;
  readonly asked: McpRequest;
}

/** The answer of `POST /v1/explain/mcp/{server}`: what the same message would meet, as far as it would get. */
interface CallExplanation {
  object: 'explain';
  request_id: string;
  mode: string;
  key: ShownKey;
  bundle_hash: string;
  /** Null where the workspace has no such server. */
  server: {
    id: string;
    slug: string;
    name: string;
    /** Null for a merged server. */
    integration: string | null;
    host: string | null;
    transport: string;
    auth_type: string;
    merged: boolean;
  } | null;
  /** Of a merged server who of it would be asked, as its own callers call what is asked for; null where that is not known, or nobody. */
  member: { id: string; slug: string; capability: string } | null;
  /** What is asked for, as callers know it; null where the message names nothing. */
  capability: string | null;
  limits: ExplainedLimit[];
  price: ShownUse['price'];
  estimate: ShownUse['estimate'];
  /** What the message would be answered with instead of being sent on; absent = the server would be asked. */
  would_fail?: {
    status: number;
    code: string;
    /** Of the JSON-RPC error; null where HTTP's status is all there is. */
    rpc_code: number | null;
    message: string;
  };
}

/**
 * The decision on a message to an MCP server, by the code that decides real ones: nobody is asked, no limit is used, and
 * nothing is recorded. The body is the message; the key needs what the call itself needs.
 */
export function explainMcp(deps: ExplainMcpDeps) {
  return (exchange: Exchange): Promise<Reply> =>
    answerExplained(exchange, deps, () => explain(exchange, deps));
}

async function explain(
  exchange: Exchange,
  { meter, access, whose }: ExplainMcpDeps,
): Promise<CallExplanation> {
  const { key, bundle, arrival } = exchange;
  if (key === undefined || bundle === undefined)
    throw new Error('explain runs after authentication');
  const asked = await readAsked(exchange);
  const reference = referenceIn(arrival.pathname);
  const server = bundle.mcpServer(reference);
  const met = server && memberOf({ key, bundle, server }, asked, whose);
  const { member } = met ?? {};
  const event = mcpEvent({
    server: (member?.server ?? server)?.source ?? { id: '', slug: reference },
    mergedSlug: member && server?.source.slug,
    method: asked.method,
    rpcId: asked.idText,
    capability: (member?.asked ?? asked).subject,
    calledAs: asked.subject,
  });
  const begin = {
    event,
    policy: (member?.server ?? server)?.policy,
    request: asked.bytes,
    arguments: asked.params?.arguments,
  };
  const checks = server === undefined ? [] : await meter.peek(exchange, begin);
  const refusal =
    faultOf(() => checkKey(exchange, key)) ??
    serverFault(server, key, reference, access) ??
    (server && accessFault(exchange, { key, bundle, server }, asked, access)) ??
    met?.fault ??
    (member && serverFault(member.server, key, member.server.source.slug, access)) ??
    (member &&
      accessFault(exchange, { key, bundle, server: member.server }, member.asked, access)) ??
    faultOf(() => {
      const spent = limitRefusal(checks);
      if (spent !== undefined) throw spent;
    });
  return {
    object: 'explain',
    request_id: arrival.requestIdText,
    mode: event.mode,
    key: shownKey(key),
    bundle_hash: bundle.source.hash,
    server: server === undefined ? null : shownServer(server),
    member:
      member === undefined
        ? null
        : {
            id: member.server.source.id,
            slug: member.server.source.slug,
            capability: member.asked.subject ?? '',
          },
    capability: asked.subject ?? null,
    limits: explainedLimits(checks, null),
    ...shownUse(event.spends ? meter.foresee(begin) : undefined),
    ...(refusal === undefined ? {} : { would_fail: refusal }),
  };
}

type Refusal = NonNullable<CallExplanation['would_fail']>;

/** @throws GatewayError 400, 413 for what is no request */
async function readAsked({ arrival }: Exchange): Promise<McpRequest> {
  const invalid = (message: string) =>
    new GatewayError('request.invalid_field', { field: 'body', message });
  try {
    const message = readMessage(await arrival.readBody());
    if (message.kind !== 'request')
      throw invalid('body must be a JSON-RPC request, with a method and an id.');
    return message;
  } catch (error) {
    if (error instanceof McpFault) throw invalid(`body: ${error.message}`);
    throw error;
  }
}

function referenceIn(pathname: string): string {
  const segment = /^\/v1\/explain\/mcp\/([^/]+)/.exec(pathname)?.[1] ?? '';
  try {
    return decodeURIComponent(segment);
  } catch {
    // Nobody's slug.
    return segment;
  }
}

/** In the words of `serveMcp`. */
function serverFault(
  server: CompiledMcpServer | undefined,
  key: ResolvedKey,
  reference: string,
  access: Access,
): Refusal | undefined {
  const refusal = (status: number, code: string, message: string) => ({
    status,
    code,
    rpc_code: null,
    message,
  });
  if (server === undefined)
    return refusal(
      404,
      'not_found',
      `This workspace has no MCP server "${reference.slice(0, 80)}".`,
    );
  // Of one whose policy cannot be read everything is denied, and that is said.
  const refused = server.policyIsUnread ? undefined : access.denyServer(server, key);
  if (refused !== undefined) return refusal(403, 'forbidden', refused);
  const why = unserved(server);
  return why === undefined ? undefined : refusal(503, 'temporarily_unavailable', why);
}

/** Of a merged server the member that would be asked, or why none would. */
function memberOf(
  whom: Whose,
  asked: McpRequest,
  whose: ExplainMcpDeps['whose'],
): { member?: AskedMember | undefined; fault?: Refusal | undefined } {
  if (!whom.server.isMerged) return {};
  let member: AskedMember | undefined;
  const fault = faultOf(() => {
    member = whose({ ...whom, principal: principalOf(whom.key) }, asked);
  });
  return { member, fault };
}

interface Whose {
  readonly key: ResolvedKey;
  readonly bundle: CompiledBundle;
  readonly server: CompiledMcpServer;
}

function accessFault(
  exchange: Exchange,
  { key, server }: Whose,
  asked: McpRequest,
  access: Access,
): Refusal | undefined {
  return faultOf(() => access.admit({ key, server, exchange }, asked));
}

/** @throws what is a fault of ours */
function faultOf(check: () => unknown): Refusal | undefined {
  try {
    check();
    return undefined;
  } catch (caught) {
    if (caught instanceof McpFault) {
      const { status, code, message } = caught;
      return { status, code: `mcp.${code}`, rpc_code: code, message };
    }
    const { status, code, message } = fromUnknown(caught);
    if (code === 'internal') throw caught;
    return { status, code, rpc_code: code.startsWith('limit.') ? -32000 : null, message };
  }
}

function shownServer({ source, isMerged }: CompiledMcpServer): CallExplanation['server'] {
  const { id, slug, name, url, transport, authType, integrationSlug } = source;
  return {
    id,
    slug,
    name,
    integration: integrationSlug === '' ? null : integrationSlug,
    host: URL.canParse(url) ? new URL(url).host : null,
    transport,
    auth_type: authType,
    merged: isMerged,
  };
}
