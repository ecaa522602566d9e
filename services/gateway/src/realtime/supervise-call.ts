import { matchObject, operations } from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { Sealer } from '@sluice/mcp';
import { transcriptionModelOf } from '@sluice/providers';
import type { Logger } from '@sluice/telemetry';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import { unheardBy } from '../compiled/session-hooks.ts';
import { isAskedAlone } from '../exchange/asked-alone.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import { discard, type Reply } from '../exchange/reply.ts';
import { abortReason } from '../http/caller-gone.ts';
import type { OpenStreams } from '../http/open-streams.ts';
import type { RequestsUnderWay } from '../http/requests-under-way.ts';
import type { OwnerNotes } from '../owners/owner-notes.ts';
import { accountOf } from '../owners/route-to-owner.ts';
import type { Step } from '../visit/step.ts';
import { callOf, type TargetVisit, targetOf } from '../visit/target-visit.ts';
import { askerOf } from './asker-of.ts';
import type { CallHandover } from './call-handover.ts';
import type { TakenCall } from './call-register.ts';
import { nameOfCall, sealNote } from './noted-call.ts';
import { openSocket, type SocketParts } from './open-session.ts';
import { type PostParts, postUpstream } from './post-upstream.ts';
import { callForm, preparePost, sidebandCall } from './session-call.ts';
import { writeSession } from './session-document.ts';
import { type SessionGuardParts, SessionGuards } from './session-guards.ts';
import { type MeterParts, SessionMeter } from './session-meter.ts';
import { SessionTalk, type TalkParts } from './session-talk.ts';
import type { Sessions } from './sessions.ts';
import { SupervisedCall } from './supervised-call.ts';
import { takenOf } from './taken-call.ts';

export interface SuperviseParts
  extends CallRules,
    MeterParts,
    SocketParts,
    PostParts,
    SessionGuardParts,
    TalkParts {
  readonly sessions: Sessions;
  readonly owners: OwnerNotes;
  readonly openStreams: OpenStreams;
  readonly underWay: RequestsUnderWay;
  readonly logger: Logger;
  /** Of a translation: so much of it is one request. */
  readonly stretchMs: number;
  readonly handover: CallHandover;
  readonly sealer: Sealer;
}

/** The request that places a call: with the provider's own key, since a call of a minted secret has no sideband. */
export function prepareCallRequest(rules: CallRules): Step {
  return {
    run(visit, next) {
      const { exchange } = visit;
      const target = targetOf(visit);
      const { asked, sdp = '', operation } = exchange.subject;
      if (asked === undefined) throw new Error('the request is read first');
      const session = writeSession({ ...asked, model: target.model });
      visit.prepared = preparePost(
        exchange,
        target,
        visit,
        { path: pathOf(operation.at), content: callForm(sdp, session) },
        rules,
      );
      return next(visit);
    },
  };
}

/** Around the request that begins a call: takes what its first event needs, and listens to what came of it. */
export function superviseCall(parts: SuperviseParts): Step {
  return {
    async run(visit, next) {
      const { exchange } = visit;
      refuseUnheard(exchange);
      const target = targetOf(visit);
      const life = new AbortController();
      const accepted = acceptedId(exchange);
      const leave = parts.sessions.enter(exchange);
      const unknown = sidebandCall(exchange, target, accepted ?? '', life.signal, parts);
      const meter = new SessionMeter(unknown.call, unknown.exchange, parts);
      let isTaken = false;
      try {
        await meter.begin();
        const answer = await next(visit);
        const { reply, status } = answer;
        if (reply === undefined || status < 200 || status > 299) return answer;
        const id = accepted ?? placedId(reply);
        const supervised = hear(visit, id, { ...unknown, meter, life, leave }, parts);
        isTaken = true;
        const { signal } = exchange.arrival;
        if (signal.aborted) {
          supervised.abandon();
          discard(reply);
          throw abortReason(signal);
        }
        await noteCall(visit, id, parts.owners);
        if (accepted === undefined) reply.headers.location = `/v1/realtime/calls/${id}`;
        return answer;
      } finally {
        if (!isTaken) {
          meter.giveUp();
          leave();
        }
      }
    },
  };
}

interface Listening {
  /** As of a session of the key over a WebSocket: what is said is recorded for it. */
  readonly exchange: ModelExchange;
  readonly meter: SessionMeter;
  readonly life: AbortController;
  readonly leave: () => void;
  /** Of a call that another gateway heard before. */
  readonly taken?: TakenCall & { readonly startedAtMs: number };
}

/** Listens to a call until it is over, and lets other gateways know. */
function hear(
  visit: TargetVisit,
  id: string,
  { exchange, meter, life, leave, taken }: Listening,
  parts: SuperviseParts,
): SupervisedCall {
  const { handover, sealer, sessions } = parts;
  const call = atProvider(id, visit, life.signal, parts);
  const ended = parts.openStreams.open();
  const noLonger = parts.underWay.begin(life);
  const organisationId = exchange.key?.source.organisationId ?? '';
  const name = nameOfCall(organisationId, call.origin, id);
  const supervised = new SupervisedCall({
    call,
    meter,
    exchange,
    bounds: parts,
    logger: parts.logger,
    guards: SessionGuards.of(exchange, targetOf(visit), parts),
    talk: SessionTalk.of(exchange, parts),
    transcriptionModel: transcriptionModelFor(visit),
    heardSinceMs: taken?.startedAtMs,
    isFirst: handover.isOn ? (event) => handover.isFirst(name, event) : undefined,
    onOver: () => {
      sessions.delete(supervised);
      handover.over(name, supervised);
      noLonger();
      ended();
      leave();
    },
  });
  sessions.add(supervised);
  life.signal.addEventListener('abort', () => sessions.endDraining(supervised));
  const sealed = taken?.sealed ?? noteOf(visit, id, sealer, parts);
  if (sealed !== undefined) handover.keep(name, sealed, supervised, taken !== undefined);
  supervised.begin();
  return supervised;
}

/** For another gateway; undefined = it could not hear the call: there is no Redis, or the credential is the caller's. */
function noteOf(
  visit: TargetVisit,
  callId: string,
  sealer: Sealer,
  { handover, logger }: SuperviseParts,
): string | undefined {
  const { exchange } = visit;
  const { arrival, subject, key } = exchange;
  if (!handover.isOn || key === undefined || !isAskedAlone(targetOf(visit))) return undefined;
  try {
    return sealNote(sealer, {
      callId,
      ...askerOf(exchange),
      address: arrival.callerAddress(),
      model: subject.model,
      of: subject.asked?.kind ?? 'realtime',
      transcriptionModel: transcriptionModelFor(visit),
      startedAtMs: arrival.startedAtMs,
    });
  } catch (error) {
    logger.warn({ err: error, call_id: callId }, 'a call cannot be noted for other gateways');
    return undefined;
  }
}

/** Who writes down what the caller of a call says; undefined = nobody, as far as was asked. */
function transcriptionModelFor(visit: TargetVisit): string | undefined {
  const { asked } = visit.exchange.subject;
  if (asked === undefined) return undefined;
  const named = transcriptionModelOf(asked.session);
  return asked.kind === 'transcription' ? targetOf(visit).model : named;
}

/** Innermost: goes on with a call that another gateway heard. What cannot be heard is hung up, as anywhere. */
export function takeCallOver(parts: SuperviseParts): Step {
  return {
    async run(visit) {
      const { exchange } = visit;
      const taken = takenOf(exchange);
      const life = new AbortController();
      const beside = sidebandCall(exchange, targetOf(visit), taken.callId, life.signal, parts);
      const meter = new SessionMeter(beside.call, beside.exchange, parts);
      let leave = () => {};
      let refused: unknown;
      try {
        leave = parts.sessions.enter(exchange);
        await meter.begin();
      } catch (error) {
        refused = error;
      }
      const heard = { exchange: beside.exchange, meter, life, leave, taken };
      const supervised = hear(visit, taken.callId, heard, parts);
      if (refused !== undefined) supervised.refuse(fromUnknown(refused));
      const reply: Reply = { kind: 'body', status: 200, headers: {}, body: Buffer.alloc(0) };
      return { status: 200, stops: true, reply, error: undefined };
    },
  };
}

/** @throws GatewayError where an enforced guardrail could not do its work */
function refuseUnheard({ bundle, subject }: ModelExchange): void {
  const kind = subject.asked?.kind === 'translation' ? 'translation' : 'realtime';
  const why = bundle?.enforced && unheardBy(bundle.enforced, kind);
  if (why !== undefined) throw new GatewayError('guardrail.denied', { message: why });
}

/** Of a call that comes in over SIP; undefined = one is placed. */
function acceptedId({ subject, arrival }: ModelExchange): string | undefined {
  return subject.operation.id === operations.acceptRealtimeCall.id
    ? matchObject(arrival.method, subject.pathname)?.parameters.call_id
    : undefined;
}

/** @throws GatewayError `upstream.invalid_response`: a call that cannot be named can be neither heard nor hung up */
function placedId({ headers }: Reply): string {
  const location = headers.location;
  const id = typeof location === 'string' ? location.split(/[?#]/, 1)[0]?.split('/').pop() : '';
  if (id === undefined || !/^[\w.~-]{1,256}$/.test(id))
    throw new GatewayError('upstream.invalid_response', {
      failureCause: 'invalid_response',
      message: 'The provider placed a call and did not say which: its answer has no Location.',
    });
  return id;
}

function atProvider(id: string, visit: TargetVisit, signal: AbortSignal, parts: SuperviseParts) {
  const { exchange } = visit;
  const target = targetOf(visit);
  const { call: sideband } = sidebandCall(exchange, target, id, signal, parts);
  const hangUp = preparePost(
    exchange,
    target,
    visit,
    { path: `/realtime/calls/${encodeURIComponent(id)}/hangup`, content: undefined },
    parts,
  );
  return {
    id,
    origin: sideband.origin,
    listen: () => openSocket(sideband, [], parts),
    hangUp: (timeoutMs: number) => postUpstream(hangUp, timeoutMs, parts),
  };
}

/** What follows it goes to the one who has it, and is this workspace's alone. */
async function noteCall(visit: TargetVisit, id: string, owners: OwnerNotes): Promise<void> {
  const { key, subject } = visit.exchange;
  const target = targetOf(visit);
  await owners.note(key?.source.organisationId ?? '', id, {
    kind: 'call',
    workspaceId: key?.source.workspaceId ?? '',
    origin: callOf(visit).origin,
    provider: target.saved === undefined ? target.entry.id : `@${target.saved.slug}`,
    account: accountOf(target),
    model: target.servedModel || subject.model,
  });
}

function pathOf(at: string): string {
  return at.slice(at.indexOf('/v1/') + 3);
}
