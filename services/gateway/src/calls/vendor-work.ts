import { waitHintMs } from '@sluice/engine';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { UpstreamPools } from '@sluice/outbound';
import { usage } from '@sluice/proto-stubs';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { BodyReply, StreamReply } from '../exchange/reply.ts';
import type { AskVendor, MadeReply, PassingReply } from '../exchange/vendor-work.ts';
import type { AttemptResult } from './attempt-result.ts';
import { authorised, ownerOf } from './authorised-call.ts';
import type { CallAuthoriser } from './call-authoriser.ts';
import type { OngoingAttempt } from './ongoing-attempt.ts';
import { type ReceiveOptions, receivePassing } from './receive.ts';
import { UpstreamCall } from './upstream-call.ts';

const { Outcome } = usage;

export interface AskParts {
  readonly pools: UpstreamPools;
  readonly authoriser: CallAuthoriser;
  readonly options: { readonly requestTimeoutMs: number; readonly streamIdleTimeoutMs: number };
}

/**
 * Sends the requests that one call takes, each past the authoriser and through the pools.
 * @param onSent called for each that leaves
 */
export function askVendor(
  call: PreparedCall,
  { pools, authoriser, options }: AskParts,
  onSent?: () => void,
): AskVendor {
  const { requester, target } = call;
  return async (request) => {
    const { auth, signal, addressBy, method, path } = request;
    const headers = { ...request.headers };
    const sent =
      auth === undefined
        ? { origin: request.origin, headers, body: request.body }
        : await authorised({ requester, target, ...request, headers, auth }, signal, authoriser);
    const pool = pools.pool(sent.origin, {
      tls: auth === undefined ? undefined : target.tls,
      by: addressBy,
      owner: ownerOf(requester),
    });
    const upstream = new UpstreamCall(pool, {
      path,
      method,
      headers: sent.headers,
      body: sent.body,
      timeoutMs: target.timeoutMs ?? options.requestTimeoutMs,
      idleTimeoutMs: target.planned.idleTimeoutMs ?? options.streamIdleTimeoutMs,
      signal,
      place: pools.placeOf(pool),
      onSent,
    });
    await upstream.head;
    return upstream;
  };
}

/** What the requests of one call came to. */
export async function receiveWork(
  attempt: OngoingAttempt,
  came: BodyReply | PassingReply | MadeReply,
  options: ReceiveOptions,
): Promise<AttemptResult> {
  attempt.firstByte();
  if (came.kind === 'passing') {
    if (!(came.answer instanceof UpstreamCall)) throw new Error('an answer of somebody else’s');
    const result = await receivePassing(attempt, came.answer, options);
    Object.assign(result.reply?.headers ?? {}, came.headers);
    return result;
  }
  if (came.kind === 'made') return { ...whole, status: 200, reply: madeReply(attempt, came) };
  attempt.bodyRead();
  const { status, headers } = came;
  if (status < 400) await attempt.finish(Outcome.SUCCESS, status, '', undefined);
  else await attempt.finish(Outcome.UPSTREAM_ERROR, status, 'upstream.error', undefined);
  const waitMs = status === 429 ? waitHintMs(headers) : undefined;
  return { ...whole, status, reply: came, waitHintMs: waitMs };
}

const whole = {
  error: undefined,
  isNetworkFailure: false,
  isFinal: false,
  isFiltered: false,
  waitHintMs: undefined,
};

/** Sent as it is made, no faster than its caller reads. */
function madeReply(attempt: OngoingAttempt, { headers, content }: MadeReply): StreamReply {
  let isWhole = false;
  return {
    kind: 'stream',
    status: 200,
    headers,
    pipeTo(sink) {
      let drained = () => {};
      sink.onDrain(() => drained());
      const gone = goneFor(attempt);
      gone.catch(() => {});
      void (async () => {
        try {
          for await (const piece of content) {
            if (sink.write(piece)) continue;
            await Promise.race([
              new Promise<void>((resolve) => {
                drained = resolve;
              }),
              gone,
            ]);
          }
          isWhole = true;
          attempt.finishNow(Outcome.SUCCESS, 200, '', undefined);
          sink.end();
        } catch (caught) {
          const error = fromUnknown(caught);
          const outcome = error.code === 'request.aborted' ? Outcome.CALLER_GONE : Outcome.PARTIAL;
          attempt.finishNow(outcome, 200, error.code, undefined, error.failureCause);
          sink.cut(error.code);
        }
      })();
    },
    discard() {
      attempt.finishNow(Outcome.CALLER_GONE, 200, 'request.superseded', undefined);
      void content.return();
    },
    wasWhole: () => isWhole,
  };
}

/** A caller who has left drains nothing. */
function goneFor({ call }: OngoingAttempt): Promise<never> {
  const { signal } = call.requester.arrival;
  return new Promise((_resolve, reject) => {
    const gone = () => reject(new GatewayError('request.aborted'));
    if (signal.aborted) gone();
    else signal.addEventListener('abort', gone, { once: true });
  });
}
