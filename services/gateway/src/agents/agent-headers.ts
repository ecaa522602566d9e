import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from '@sluice/a2a';
import { agentHeaderNames } from '@sluice/contracts';
import type { JsonObject } from '@sluice/providers';
import { carriesServiceKey } from '../calls/prepare/request-headers.ts';
import { replyHeaders } from '../calls/reply-headers.ts';
import { lowerCased } from '../compiled/compiled-bundle.ts';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import type { ReplyHeaders } from '../exchange/reply.ts';
import { connectionTokens } from '../http/connection-headers.ts';
import { type IdentityPlan, identityPlan } from '../identity/tell-identity.ts';

/** What of a caller's headers belongs to the call itself, and always goes on. */
const kept = [
  'accept',
  'content-type',
  'a2a-version',
  'a2a-extensions',
  // As 0.3 calls it.
  'x-a2a-extensions',
  'last-event-id',
  'traceparent',
  'tracestate',
  'x-request-id',
] as const;

interface HeaderChoice {
  readonly from: string;
  readonly to: string;
}

export interface HeaderPlan {
  readonly forwarded: readonly HeaderChoice[];
  /** Instead of a list: all but these. */
  readonly allExcept: ReadonlySet<string> | undefined;
  /** Of the admin; they win. */
  readonly fixed: Readonly<Record<string, string>>;
  /** How the agent learns who calls. */
  readonly identity: IdentityPlan | undefined;
  readonly unkept: string | undefined;
}

export function headerPlan(configurations: JsonObject): HeaderPlan {
  const {
    forward_headers: forward,
    headers,
    custom_headers: custom,
    passthrough_headers: extra,
    user_identity_forwarding: identity,
  } = configurations;
  const isExcept = isObject(forward) && forward.mode === 'all-except';
  const listed = isObject(forward) ? forward.headers : forward;
  const choices = (Array.isArray(listed) ? listed : []).flatMap(asChoice);
  return {
    forwarded: isExcept
      ? []
      : choices.filter(
          ({ from, to }) => agentHeaderNames.forwards(from) && agentHeaderNames.forwards(to),
        ),
    allExcept: isExcept ? new Set(choices.map(({ from }) => from)) : undefined,
    fixed: { ...fixedIn(headers), ...fixedIn(custom), ...fixedIn(extra) },
    identity: identityPlan(identity),
    unkept: identityPlan(identity)?.unkept,
  };
}

function asChoice(choice: unknown): HeaderChoice[] {
  if (typeof choice === 'string') return [{ from: choice.toLowerCase(), to: choice.toLowerCase() }];
  if (!isObject(choice)) return [];
  const { from, to = from } = choice;
  return typeof from === 'string' && typeof to === 'string'
    ? [{ from: from.toLowerCase(), to: to.toLowerCase() }]
    : [];
}

/** What of a call is said by whoever makes it. */
function fixedIn(headers: unknown): Record<string, string> {
  if (!isObject(headers)) return {};
  const texts = Object.entries(headers).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  const named = Object.entries(lowerCased(Object.fromEntries(texts)));
  return Object.fromEntries(named.filter(([name]) => agentHeaderNames.sets(name)));
}

/**
 * The headers of one call, made for it alone.
 * @param isTrusted the address is the admin's own, and may be told what the admin saved and who calls
 * @param told who calls, as `Identities` says it
 */
export function agentHeaders(
  arrival: ArrivedRequest,
  plan: HeaderPlan,
  isTrusted: boolean,
  told: Readonly<Record<string, string>>,
): Record<string, string> {
  const arrived = arrival.headers;
  const headers: Record<string, string> = {};
  const copy = (from: string, to: string) => {
    const value = arrived[from];
    const text = Array.isArray(value) ? value.join(', ') : value;
    // The service key must not travel on, wherever it was sent.
    if (text !== undefined && !carriesServiceKey(arrival, text)) headers[to] = text;
  };
  if (isTrusted && plan.allExcept !== undefined) {
    const named = connectionTokens(arrived.connection);
    for (const name in arrived)
      if (
        name !== 'authorization' &&
        agentHeaderNames.forwards(name) &&
        !plan.allExcept.has(name) &&
        named?.has(name) !== true
      )
        copy(name, name);
  }
  for (const name of kept) copy(name, name);
  headers['x-forwarded-for'] = arrival.callerAddress();
  headers['x-service-trace-id'] = arrival.traceId;
  // A reply that is read must not be compressed on the way.
  headers['accept-encoding'] = 'identity';
  if (!isTrusted) return headers;
  for (const { from, to } of plan.forwarded) copy(from, to);
  return Object.assign(headers, told, plan.fixed);
}

/** What an agent says beside its answer that would lead around the gateway. */
const notRelayed = [
  'www-authenticate',
  'refresh',
  'link',
  'location',
  'content-location',
  // Some answer with what they were sent: it is the agent's alone.
  'tracestate',
];

export function headersForCaller(upstream: IncomingHttpHeaders): ReplyHeaders {
  const headers = replyHeaders(upstream, true);
  for (const name of notRelayed) delete headers[name];
  return headers;
}
