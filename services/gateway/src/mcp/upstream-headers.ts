import type { IncomingHttpHeaders } from 'node:http';
import { mcpHeaderNames } from '@sluice/contracts';
import type { CompiledMcpServer } from '../compiled/mcp-servers.ts';
import { type IdentityPlan, identityPlan } from '../identity/tell-identity.ts';
import { validationFault } from './user-tokens.ts';

interface HeaderChoice {
  readonly from: string;
  readonly to: string;
}

/** A server's settings of headers, made ready. */
export interface HeaderPlan {
  /** Copied from the caller; `except` = all but these. */
  readonly forwarded: { readonly except: boolean; readonly headers: readonly HeaderChoice[] };
  /** Of the admin, the later of a name over the former. */
  readonly fixed: Readonly<Record<string, string>>;
  /** How the server learns who calls. */
  readonly identity: IdentityPlan | undefined;
  /** A setting that this gateway cannot keep to: the server is not called. */
  readonly unkept: string | undefined;
}

const plans = new WeakMap<CompiledMcpServer, HeaderPlan>();

export function headerPlan(server: CompiledMcpServer): HeaderPlan {
  const known = plans.get(server);
  if (known !== undefined) return known;
  const plan = makePlan(server);
  plans.set(server, plan);
  return plan;
}

/**
 * The headers of one call, made for it alone: the caller's that are forwarded,
 * then those of the credential, the admin's extras, and who calls.
 * @param token of a server that knows the gateway by one
 * @param told who calls, as `Identities` says it
 */
export function upstreamHeaders(
  server: CompiledMcpServer,
  arrived: IncomingHttpHeaders,
  told: Readonly<Record<string, string>>,
  token?: string,
): Record<string, string> {
  const { forwarded, fixed } = headerPlan(server);
  const headers: Record<string, string> = {};
  if (forwarded.except) {
    const kept = new Set(forwarded.headers.map(({ from }) => from));
    for (const [name, value] of Object.entries(arrived))
      if (value !== undefined && !kept.has(name) && mcpHeaderNames.forwards(name))
        headers[name] = String(value);
  } else
    for (const { from, to } of forwarded.headers) {
      const value = arrived[from];
      if (value !== undefined) headers[to] = String(value);
    }
  for (const name of traceNames) {
    const value = arrived[name];
    if (typeof value === 'string') headers[name] = value;
  }
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  Object.assign(headers, fixed, told);
  return headers;
}

const traceNames = ['traceparent', 'tracestate', 'baggage'];

/** Those of them by which a server may tell callers apart. */
export function sentHeaders(
  server: CompiledMcpServer,
  arrived: IncomingHttpHeaders,
  told: Readonly<Record<string, string>>,
): Record<string, string> {
  const { traceparent, tracestate, baggage, ...sent } = upstreamHeaders(server, arrived, told);
  return sent;
}

function makePlan({ configurations, source }: CompiledMcpServer): HeaderPlan {
  const {
    forward_headers: forward,
    custom_headers: custom,
    headers,
    passthrough_header: passthrough,
    passthrough_headers: passthroughs,
    user_identity_forwarding: identity,
    jwt_validation: validation,
  } = configurations;
  const isListed = Array.isArray(forward);
  const choices = isListed ? forward : isRecord(forward) ? forward.headers : [];
  const except = isRecord(forward) && forward.mode === 'all-except';
  const auth = source.authType === 'headers' ? { ...named(headers), ...named(custom) } : {};
  return {
    forwarded: {
      except,
      headers: (Array.isArray(choices) ? choices : [])
        .flatMap(asChoice)
        // Of those that are left out the names alone count.
        .filter(
          ({ from, to }) =>
            except || (mcpHeaderNames.forwards(from) && mcpHeaderNames.forwards(to)),
        )
        // A token that was for the gateway to check goes on only where an admin names its header.
        .concat(except ? tokenHeader(validation) : []),
    },
    fixed: { ...auth, ...named(passthroughs), ...named(passthrough) },
    identity: identityPlan(identity),
    unkept: unkept(identity, validation, source.authType),
  };
}

function tokenHeader(validation: unknown): HeaderChoice[] {
  return isRecord(validation) ? asChoice(validation.headerKey) : [];
}

function asChoice(choice: unknown): HeaderChoice[] {
  if (typeof choice === 'string') {
    const name = choice.toLowerCase();
    return [{ from: name, to: name }];
  }
  if (!isRecord(choice)) return [];
  const { from, to } = choice;
  return typeof from === 'string' && typeof to === 'string'
    ? [{ from: from.toLowerCase(), to: to.toLowerCase() }]
    : [];
}

function named(headers: unknown): Record<string, string> {
  if (!isRecord(headers)) return {};
  return Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(
        (entry): entry is [string, string] =>
          typeof entry[1] === 'string' && mcpHeaderNames.sets(entry[0]),
      ),
  );
}

const servedAuthTypes = new Set(['none', 'headers', 'oauth_client_credentials', 'oauth_auto']);

function unkept(identity: unknown, validation: unknown, authType: string): string | undefined {
  const untold = identityPlan(identity)?.unkept;
  if (untold !== undefined) return `${untold} is not served`;
  const fault = validationFault(validation);
  if (fault !== undefined) return fault;
  if (!servedAuthTypes.has(authType)) return `auth_type ${authType} is not served yet`;
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
