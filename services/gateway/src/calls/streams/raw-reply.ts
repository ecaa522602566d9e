import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import type { StreamReply } from '../../exchange/reply.ts';
import type { OngoingAttempt } from '../ongoing-attempt.ts';
import { replyHeaders } from '../reply-headers.ts';
import type { UpstreamCall } from '../upstream-call.ts';
import { openTap } from './open-tap.ts';
import type { Tap, TapEnd } from './tap.ts';

const { Outcome } = usage;

/**
 * Bytes passed on as they come, whatever they are. Success is a complete reply.
 * Of a format we know, the usage is read on the way; a reply that is not what
 * the format says is still the caller's.
 */
export function rawReply(attempt: OngoingAttempt, call: UpstreamCall): StreamReply {
  const headers = replyHeaders(call.headers, true);
  const length = call.headers['content-length'];
  if (length !== undefined) headers['content-length'] = length;
  const tap = openTap(attempt.call, call);
  let isWhole = false;
  /** All of it has come, and is judged before it is a success. */
  let isAwaited = false;
  let isDenied = false;
  return {
    kind: 'stream',
    status: call.status,
    headers,
    pipeTo(sink) {
      let isFull = false;
      const goOn = () => {
        if (!isFull && tap?.lags !== true) call.resume();
      };
      sink.onDrain(() => {
        isFull = false;
        goOn();
      });
      tap?.onCaughtUp?.(goOn);
      call.consume({
        data: (chunk) => {
          if (isDenied) return true;
          tap?.add(chunk);
          isFull = !sink.write(chunk);
          return !isFull && tap?.lags !== true;
        },
        end() {
          if (isDenied) return;
          const end = ({ facts, isComplete }: TapEnd) => {
            isWhole = isComplete;
            if (call.status >= 400)
              attempt.finishNow(Outcome.UPSTREAM_ERROR, call.status, 'upstream.error', facts);
            else if (isComplete && attempt.call.isJudged) isAwaited = true;
            else if (isComplete) attempt.finishNow(Outcome.SUCCESS, call.status, '', facts);
            else
              attempt.finishNow(
                Outcome.PARTIAL,
                call.status,
                'upstream.stream_cut',
                facts,
                'closed',
              );
            sink.end();
          };
          whenTold(tap, end);
        },
        fail(error) {
          if (isDenied) return;
          const end = ({ facts }: TapEnd) => {
            attempt.finishNow(
              error.code === 'request.aborted' ? Outcome.CALLER_GONE : Outcome.PARTIAL,
              call.status,
              error.code,
              facts,
              error.failureCause,
            );
            if (error.code === 'gateway.draining' && tap?.isBetweenEvents === true) {
              sink.write(tap.errorEvent?.(error) ?? nothing);
              sink.end();
            } else sink.cut(error.code);
          };
          whenTold(tap, end);
        },
      });
    },
    discard() {
      if (call.status >= 400)
        attempt.finishNow(Outcome.UPSTREAM_ERROR, call.status, 'upstream.error', undefined);
      else attempt.finishNow(Outcome.CALLER_GONE, call.status, 'request.superseded', undefined);
      call.abort(new GatewayError('request.superseded'));
    },
    wasWhole: () => isWhole,
    conclude(denied) {
      if (denied === undefined) {
        if (isAwaited) attempt.finishNow(Outcome.SUCCESS, call.status, '', tap?.facts);
        return nothing;
      }
      isDenied = true;
      // What was said was paid for.
      attempt.finishNow(Outcome.DENIED, call.status, denied.code, tap?.facts);
      call.abort(denied);
      return tap?.errorEvent?.(denied) ?? nothing;
    },
  };
}

/** At once, but where what came compressed is still being unpacked. */
function whenTold(tap: Tap | undefined, end: (told: TapEnd) => void): void {
  const told = tap?.end() ?? { facts: undefined, isComplete: true };
  if (told instanceof Promise) void told.then(end);
  else end(told);
}

const nothing = Buffer.alloc(0);
