import type { ObjectKind } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { BodyReply, Reply, ReplyHeaders } from '../../exchange/reply.ts';
import { codingOf } from '../../http/content-coding.ts';
import { keptAt } from '../../owners/kept-at.ts';
import { atCursor, listedMax, narrowedKind, readPage } from '../../owners/own-list.ts';
import type { OwnerNotes } from '../../owners/owner-notes.ts';
import { accountOf } from '../../owners/route-to-owner.ts';
import { wholeReply } from '../../owners/whole-reply.ts';
import type { Rung, Step, TargetAnswer } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';

export interface NarrowListParts {
  owners: OwnerNotes;
}

/** Clients take a page without items for the last one: so many are passed over to find one with some. */
const pagesMax = 10;
const pagesMs = 10_000;

/** Of a list at a provider that several workspaces share: what the caller's workspace made, where the integration says so. */
export function narrowList({ owners }: NarrowListParts): Step {
  return {
    run(visit, next) {
      const kind = narrowedKind(visit.exchange, targetOf(visit));
      return kind === undefined || visit.exchange.arrival.method === 'HEAD'
        ? next(visit)
        : narrowed(visit, next, kind);
    },
  };

  async function narrowed(visit: TargetVisit, next: Rung, kind: ObjectKind): Promise<TargetAnswer> {
    const { arrival, progress, subject } = visit.exchange;
    const untilMs = performance.now() + pagesMs;
    const turnsBack = /[?&]before(?:_id)?=/.test(subject.search);
    for (let pages = 1; ; pages++) {
      const answer = await next(visit);
      const { reply, status } = answer;
      if (reply === undefined || status < 200 || status > 299) return answer;
      const whole = await readWhole(reply);
      if (whole.body.length === 0) return { ...answer, reply: whole };
      const page = readPage(whole.body, kind);
      if (page === undefined) throw unreadable();
      const own = await ownOf(visit, page.ids);
      const call = callOf(visit);
      const goesOn =
        own.size === 0 &&
        page.next !== undefined &&
        !turnsBack &&
        call.work === undefined &&
        pages < pagesMax &&
        performance.now() < untilMs &&
        !arrival.signal.aborted &&
        progress.affords(1);
      if (!goesOn || page.next === undefined) {
        const body = page.only(own);
        if (body === undefined) return { ...answer, reply: whole };
        return { ...answer, reply: { ...whole, headers: withoutBytes(whole.headers), body } };
      }
      visit.prepared = { ...call, path: atCursor(call.path, page.next) };
    }
  }

  /** @throws GatewayError `object.owners_unavailable` where somebody's may be shown, or one's own left out */
  async function ownOf(visit: TargetVisit, ids: ReadonlySet<string>): Promise<Set<string>> {
    if (ids.size > listedMax)
      throw new GatewayError('upstream.response_too_large', {
        message: `The provider lists ${ids.size} objects at once; of ${listedMax} at most it can be told whose they are.`,
      });
    const { organisationId = '', workspaceId = '' } = visit.exchange.key?.source ?? {};
    const call = callOf(visit);
    const account = accountOf(targetOf(visit));
    const own = new Set<string>();
    let isSure = true;
    const known = [...ids].map(async (id) => {
      const { notes, isAll } = await owners.of(organisationId, id, 'listed');
      const here = notes.find(({ origin }) => origin === keptAt(id, call));
      const owner = here ?? notes.find((note) => note.account === account);
      if (owner?.workspaceId === workspaceId) own.add(id);
      else if (owner === undefined && !isAll) isSure = false;
    });
    await Promise.all(known);
    if (!isSure)
      throw new GatewayError('object.owners_unavailable', { headers: { 'retry-after': '1' } });
    return own;
  }
}

/** @throws GatewayError for what is no document */
function readWhole(reply: Reply): Promise<BodyReply> {
  const isStream = /^text\/event-stream\b/i.test(String(reply.headers['content-type']));
  const isText = codingOf(reply.headers) === '' && !isStream;
  if (isText || reply.kind === 'body') return wholeReply(reply);
  reply.discard();
  throw unreadable();
}

function unreadable(): GatewayError {
  return new GatewayError('upstream.invalid_response', {
    message:
      'The provider answered with something else than a list, of which nobody can tell whose it is.',
  });
}

/** Without what is said of bytes that are others now. */
function withoutBytes(headers: ReplyHeaders): ReplyHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofBytes.has(name)));
}

const ofBytes: ReadonlySet<string> = new Set([
  'content-length',
  'content-md5',
  'content-digest',
  'repr-digest',
  'digest',
  'etag',
]);
