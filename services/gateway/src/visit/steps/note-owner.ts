import { Readable } from 'node:stream';
import type { ObjectFacts } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { backgroundTierOf, type JsonObject } from '@sluice/providers';
import { isAskedAlone } from '../../exchange/asked-alone.ts';
import type { NamedObjects, OwnerNote } from '../../exchange/named-objects.ts';
import { mayTellOfWork } from '../../owners/ended-work.ts';
import { keptAt } from '../../owners/kept-at.ts';
import { noted, noteMade } from '../../owners/note-made.ts';
import { objectFactsOf } from '../../owners/object-facts.ts';
import { observedReply } from '../../owners/observed-reply.ts';
import type { OwnerNotes } from '../../owners/owner-notes.ts';
import {
  hasSigns,
  namesInBody,
  type Said,
  saidInBytes,
  watchedBody,
} from '../../owners/passing-ids.ts';
import { othersField, ownerUnknown } from '../../owners/refuse-others.ts';
import { ownersOf } from '../../owners/route-to-owner.ts';
import type { WorkNotes } from '../../owners/work-notes.ts';
import type { LateBills } from '../late-bills.ts';
import type { Rung, Step, TargetAnswer } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';

export interface NoteOwnerParts {
  owners: OwnerNotes;
  lateBills: Pick<LateBills, 'hear'>;
  workNotes: Pick<WorkNotes, 'note'>;
}

/** Nobody is asked for what is another workspace's there; what is made is noted before its maker has heard all of it. */
export function noteOwner({ owners, lateBills, workNotes }: NoteOwnerParts): Step {
  return {
    run(visit, next) {
      refuseOthers(visit);
      const judging = judgeUnread(visit);
      if (judging !== undefined) return judging.then(() => askAndNote(visit, next));
      const { claims } = callOf(visit);
      return claims === undefined ? askAndNote(visit, next) : refuseTaken(visit, claims, next);
    },
  };

  /**
   * Of a body that nobody has read, what it names is looked at while it passes: the credential is shared with those whose it may be.
   * A promise where it is here already, and could not be parsed.
   */
  function judgeUnread(visit: TargetVisit): Promise<void> | undefined {
    const { arrival } = visit.exchange;
    const facts = factsOf(visit);
    if (facts === undefined || !isWatched(visit)) return undefined;
    const call = callOf(visit);
    const { body } = call;
    if (!(body instanceof Readable || Buffer.isBuffer(body))) return undefined;
    const { 'content-type': type = '', 'content-encoding': encoding } = arrival.headers;
    // Of forms no field is an id that has no row.
    if (/^multipart\/form-data\b/i.test(type)) return undefined;
    if (encoding !== undefined && encoding !== 'identity')
      throw new GatewayError('request.unsupported_content_type', {
        field: 'content-encoding',
        message:
          'A compressed body may name what other workspaces keep with the credential: send it as it is.',
      });
    if (Buffer.isBuffer(body)) return judge(saidInBytes(body, facts));
    visit.prepared = { ...call, body: watchedBody(body, facts, judge) };
    return undefined;

    async function judge({ ids, isKept: saysKept }: Said): Promise<void> {
      visit.saysKept ||= saysKept;
      // Its rows would have to be read before any of it is sent.
      if (ids.some(({ rows }) => rows !== undefined))
        throw new GatewayError('request.malformed_json', {
          field: 'body',
          message: 'The body has more in it than is read, and names a file of rows.',
        });
      refuseNamed(visit, await ownersOf(visit.exchange, owners, ids));
    }
  }

  /** A name that the caller chose may be that of what another workspace keeps there. */
  async function refuseTaken(visit: TargetVisit, id: string, next: Rung): Promise<TargetAnswer> {
    const { source } = visit.exchange.key ?? {};
    const { notes, isAll } = await owners.of(source?.organisationId ?? '', id);
    const place = keptAt(id, callOf(visit));
    const isOthers = ({ origin, workspaceId }: OwnerNote) =>
      origin === place && workspaceId !== source?.workspaceId;
    if (notes.some(isOthers))
      throw new GatewayError('object.owner_unknown', {
        field: 'x-service-provider-file-name',
        message: 'Another file has this name.',
      });
    if (!isAll)
      throw new GatewayError('object.owners_unavailable', { headers: { 'retry-after': '1' } });
    return askAndNote(visit, next);
  }

  function askAndNote(visit: TargetVisit, next: Rung): Promise<TargetAnswer> {
    const facts = factsOf(visit);
    const makes = facts?.makes !== undefined && mayBeKept(visit, facts) ? facts.makes : none;
    if (makes.length === 0 && !isBilled(visit)) return next(visit);
    return notingMade(visit, makes);

    async function notingMade(of: TargetVisit, makes: NonNullable<ObjectFacts['makes']>) {
      const answer = await next(of);
      const { reply, status } = answer;
      if (reply === undefined || status < 200 || status > 299) return answer;
      // By now all of a body that flows has passed.
      if (!of.saysKept && saysByPassing(of) && !isBilled(of)) return answer;
      const onMade = makes.length === 0 ? undefined : noting(of, makes);
      const observed = observedReply(
        reply,
        (document) => {
          const notes = onMade?.(document) ?? [];
          const billed = lateBills.hear(of, document);
          if (billed !== undefined) notes.push(billed);
          return notes.length === 0 ? undefined : Promise.all(notes);
        },
        onMade === undefined ? mayTellOfWork : anything,
      );
      return { ...answer, reply: observed instanceof Promise ? await observed : observed };
    }
  }

  /** What is done with each document of an answer that may tell of what was made. */
  function noting(of: TargetVisit, makes: NonNullable<ObjectFacts['makes']>) {
    const { exchange } = of;
    const call = callOf(of);
    const follower = followerOf(of, noted(targetOf(of)));
    return noteMade(owners, {
      exchange,
      call,
      makes,
      tier: backgroundTierOf(call.sentJson) ?? exchange.subject.named?.own?.tier,
      heard: follower && ((made, document) => workNotes.note(made, document, follower)),
    });
  }
}

const anything = (): boolean => true;

const none: NonNullable<ObjectFacts['makes']> = [];

/**
 * Who looks at what was made until it has ended. Nobody where a caller brought the credential: we keep none of theirs. Nor for a
 * caller with a token: it ends before the work does, and nobody can speak for it then.
 */
function followerOf({ exchange, target }: TargetVisit, provider: string) {
  const { key, arrival } = exchange;
  if (key === undefined || 'validUntilMs' in key || target?.saved === undefined) return undefined;
  if (target.credentialBy !== 'admin') return undefined;
  const { organisationId, workspaceId, id } = key.source;
  return {
    owner: { organisationId, workspaceId, apiKeyId: id },
    provider,
    traceId: arrival.traceId,
    madeAtMs: arrival.startedAtMs,
  };
}

/** Its replies may say of work that it has ended. */
function isBilled({ exchange }: TargetVisit): boolean {
  const { operation } = exchange.subject;
  return operation.about === 'object' && operation.bills !== undefined;
}

export function factsOf({ exchange }: TargetVisit): ObjectFacts | undefined {
  return objectFactsOf(exchange);
}

/** @throws GatewayError `object.owner_unknown`, as for an id that nobody ever gave out */
export function refuseOthers(visit: TargetVisit): void {
  const { named } = visit.exchange.subject;
  if (named !== undefined) refuseNamed(visit, named);
}

/** @throws GatewayError the same, for what another workspace keeps where the call goes */
export function refuseNamed(visit: TargetVisit, { others }: Pick<NamedObjects, 'others'>): void {
  const field = othersField({ others }, callOf(visit));
  if (field !== undefined) throw ownerUnknown(field);
}

/** What such a body says is heard while it passes: of one that was read it is known. */
function isWatched(visit: TargetVisit): boolean {
  return (
    visit.exchange.subject.json === undefined &&
    isAskedAlone(targetOf(visit)) &&
    namesInBody(factsOf(visit))
  );
}

/** Whether what it makes is kept is known when a body that flows has passed. */
function saysByPassing(visit: TargetVisit): boolean {
  return isWatched(visit) && hasSigns(factsOf(visit)?.stored);
}

function mayBeKept(visit: TargetVisit, facts: ObjectFacts): boolean {
  return saysByPassing(visit) ? isNative(visit) : isKept(visit, facts);
}

/** Whether the provider keeps what it makes: one that answers in another format has nothing like it. */
function isKept(visit: TargetVisit, { stored }: ObjectFacts): boolean {
  if (!isNative(visit)) return false;
  const { store } = visit.exchange.subject.json ?? {};
  if (stored === 'when-asked') return store === true;
  if (stored === 'when-held') return holdsState(visit.exchange.subject.json);
  // A response that goes on in the background is there until it has ended.
  return (
    stored !== 'unless-declined' ||
    store !== false ||
    visit.exchange.subject.json?.background === true
  );
}

function isNative(visit: TargetVisit): boolean {
  const { translation } = callOf(visit);
  return translation === undefined || translation.mode === 'native';
}

/** Of Anthropic's requests: whether the provider has something of it afterwards that can be gone on, or compared, with. */
function holdsState(json: JsonObject | undefined): boolean {
  const { thread, container, diagnostics, tools } = json ?? {};
  if ((thread ?? container ?? diagnostics ?? undefined) !== undefined) return true;
  return (
    Array.isArray(tools) &&
    tools.some(
      (tool) =>
        typeof tool === 'object' &&
        tool !== null &&
        'type' in tool &&
        String(tool.type).startsWith('code_execution_'),
    )
  );
}
