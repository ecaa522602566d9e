import type { RequestFacts, TargetFacts } from '@sluice/engine';
import { config } from '@sluice/proto-stubs';
import type { ServerEvent } from '../exchange/event.ts';
import type { EventRequester } from '../exchange/event-requester.ts';
import type { LimitCheck } from '../exchange/limits.ts';
import type { Estimate, Reservation, Used } from '../exchange/reservation.ts';
import type { LimitStore } from './limit-store.ts';
import type { OpenReservations } from './limit-watch.ts';
import { limitError } from './refusal.ts';
import { type LimitWatchers, RequestLimits, unheard } from './request-limits.ts';

/** What one call of a server or an agent holds of its limits. */
export interface EventHold {
  readonly reservation: Reservation;
  /** Nothing more is asked for: what is held goes back when the call is over. */
  close(): void;
}

/**
 * Takes what a call needs of every limit that it meets, and waits where gateways share them: the key's and the
 * workspace's own, budgets of policies, and of a tool the rates of tools.
 * Undefined = nothing is limited.
 * @throws GatewayError 429, 412 or 503; nothing is held then
 */
export function holdForEvent(
  store: LimitStore,
  requester: EventRequester,
  event: ServerEvent,
  estimate: () => Estimate,
  watch: LimitWatchers | undefined,
): EventHold | undefined | Promise<EventHold | undefined> {
  if (!event.spends || areNone(requester)) return undefined;
  const limits = limitsOf(store, requester, event, watch);
  limits.refuseSpent();
  const fail = (error: unknown): never => {
    limits.close();
    throw error;
  };
  let reserving: ReturnType<RequestLimits['reserve']>;
  try {
    reserving = limits.reserve(targetOf(event), undefined, estimate);
  } catch (error) {
    return fail(error);
  }
  return reserving instanceof Promise
    ? reserving.then((reservation) => heldBy(limits, reservation), fail)
    : heldBy(limits, reserving);
}

/** @throws GatewayError where a limit refuses */
function heldBy(
  limits: RequestLimits,
  reservation: Reservation | undefined,
): EventHold | undefined {
  const { refusedBy } = reservation ?? {};
  if (reservation !== undefined && refusedBy === undefined)
    return { reservation, close: () => limits.close() };
  limits.close();
  if (refusedBy !== undefined) throw limitError(refusedBy, Date.now());
  return undefined;
}

/** How the limits of a call stand, and the policies that do not apply; takes nothing. */
export async function peekEvent(
  store: LimitStore,
  requester: EventRequester,
  event: ServerEvent,
  estimating: () => Estimate,
): Promise<LimitCheck[]> {
  if (!event.spends) return [];
  const estimate = estimating();
  const limits = limitsOf(store, requester, event, undefined);
  return [
    ...(await limits.peekRequest(estimate)),
    ...(await limits.peekTarget(targetOf(event), undefined, estimate)),
  ];
}

/** Counts what was used of work that is done, of the limits that such work meets: as no request, and none refuses. */
export async function postForEvent(
  store: LimitStore,
  requester: EventRequester,
  event: ServerEvent,
  used: Used,
  open: OpenReservations,
): Promise<void> {
  if (areNone(requester)) return;
  await limitsOf(store, requester, event, unheard(open)).postDone(targetOf(event), undefined, used);
}

function areNone({ key, bundle }: EventRequester): boolean {
  return (
    key?.counters.length === 0 &&
    key.source.status !== config.KeyStatus.EXHAUSTED &&
    bundle?.workspaceCounters.length === 0 &&
    bundle.eventPolicies.isEmpty
  );
}

function limitsOf(
  store: LimitStore,
  requester: EventRequester,
  event: ServerEvent,
  watch: LimitWatchers | undefined,
): RequestLimits {
  const { key, bundle } = requester;
  if (key === undefined || bundle === undefined)
    throw new Error('limits are looked at after authentication');
  const { ofTools, ofOthers } = bundle.eventPolicies;
  const policies = event.isToolCall ? ofTools : ofOthers;
  return new RequestLimits(
    store,
    { key, bundle, policies, facts: () => factsOf(requester, event) },
    watch,
  );
}

/** Budgets name it by these; a tool is no model. */
function targetOf({ kind, server }: ServerEvent): TargetFacts {
  return { provider: kind, providerSlug: server.slug, model: undefined };
}

function factsOf({ key, bundle, metadata }: EventRequester, event: ServerEvent): RequestFacts {
  if (key === undefined || bundle === undefined)
    throw new Error('limits are looked at after authentication');
  const { kind, server, mergedSlug, capability, calledAs, isToolCall } = event;
  return {
    organisationId: key.source.organisationId,
    workspaceId: key.source.workspaceId,
    workspaceSlug: bundle.source.workspaceSlug,
    apiKeyId: key.source.id,
    apiKeySlug: key.source.slug === '' ? key.source.name : key.source.slug,
    endpoint: event.mode,
    metadata,
    configSlug: undefined,
    promptSlug: undefined,
    mcpServers: kind === 'mcp' ? namesOf(server.slug, mergedSlug) : undefined,
    mcpTools: isToolCall ? namesOf(capability, calledAs) : undefined,
  };
}

/** What counters are named by comes first. */
function namesOf(name: string, other: string | undefined): readonly string[] {
  return other === undefined || other === name ? [name] : [name, other];
}
