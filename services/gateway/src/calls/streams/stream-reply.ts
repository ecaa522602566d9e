import { GatewayError } from '@sluice/errors';
import { GrowingBytes } from '@sluice/json';
import { usage } from '@sluice/proto-stubs';
import type { SplicedStream, StreamFault, StreamReader } from '@sluice/providers';
import type { ReplySink, StreamReply } from '../../exchange/reply.ts';
import type { OngoingAttempt } from '../ongoing-attempt.ts';
import type { UpstreamCall } from '../upstream-call.ts';

const { Outcome } = usage;

interface StreamParts {
  call: UpstreamCall;
  reader: StreamReader;
  /** Has the stream continued by others, should it be cut; undefined = it ends there. */
  splice: SplicedStream | undefined;
  attempt: OngoingAttempt;
  /** A provider that is overloaded from the start is the caller's to read, not an error of the call. */
  passesOverload: boolean;
}

/**
 * One upstream stream on its way to the caller. Events are forwarded as they
 * arrive. `committed` resolves at the first content event and rejects when the
 * stream fails before it. After it, a fault ends the stream with the format's
 * own error event, unless others tell the rest of it. The record is written
 * before the terminal event is passed on, so that a caller who saw the end is
 * in the ledger.
 */
export function streamReply({ call, reader, splice, attempt, passesOverload }: StreamParts): {
  committed: Promise<void>;
  pipeTo(sink: ReplySink): void;
  discard(): void;
  conclude(denied: GatewayError | undefined): Buffer;
} {
  let sink: ReplySink | undefined;
  let isCommitted = false;
  const preamble = new GrowingBytes();
  let isOver = false;
  /** Others are asked for the rest, or tell it. */
  let isContinued = false;
  let rest: StreamReply | undefined;
  /** All of it has come, and is judged before it is a success. */
  let isAwaited = false;
  /** Nothing but its end was lost, which is ours: the attempt is over, the record of the answer is not. */
  let isMended = false;
  /** The judgement was that nothing more of it may pass. */
  let isDenied = false;
  let settle: { resolve: () => void; reject: (error: GatewayError) => void };
  const committed = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject };
  });

  const send = (bytes: Buffer): boolean => {
    if (bytes.length === 0) return true;
    // Nobody says that there is room again where nobody is left.
    if (sink !== undefined) return sink.write(bytes) || attempt.readsOnAfter?.aborted === true;
    preamble.add(bytes);
    if (preamble.length < preambleBytesMax) return true;
    // So much is held for the caller's side and no more: waiting for content any longer would be for ever.
    commit();
    return false;
  };
  const commit = () => {
    if (isCommitted) return;
    isCommitted = true;
    settle.resolve();
  };
  const breakOff = (error: GatewayError, outcome: usage.Outcome, mayGoOn = isCommitted) => {
    if (isOver) return;
    isOver = true;
    // All of it was there, and is being judged.
    if (isAwaited && outcome === Outcome.PARTIAL && reader.phase === 'complete') {
      sink?.end();
      return;
    }
    // What breaks behind its own end is whole.
    const wasCut = mayGoOn && outcome === Outcome.PARTIAL && reader.phase !== 'complete';
    const lacks = wasCut ? lacksOf(attempt, splice) : undefined;
    attempt.isContinued = lacks !== undefined;
    attempt.finishNow(
      outcome,
      isCommitted ? call.status : error.status,
      error.code,
      reader.facts,
      error.failureCause,
    );
    if (!isCommitted) {
      settle.reject(error);
      return;
    }
    // Nothing is added behind the end that the format knows.
    if (reader.phase === 'complete') sink?.end();
    else if (lacks === 'end') endWhole();
    else if (lacks === 'more') goOn(error).catch(() => endBroken(error));
    else endBroken(error);
  };
  /** Nothing but the end itself was lost. */
  const endWhole = () => {
    isMended = true;
    if (!attempt.call.isJudged) closeMended(Outcome.SUCCESS);
    if (splice !== undefined) send(splice.end());
    sink?.end();
  };
  const closeMended = (outcome: usage.Outcome, errorCode?: string) => {
    if (isMended) void attempt.call.recovery?.parts.close(outcome, errorCode);
  };
  const goOn = async (error: GatewayError) => {
    const { recovery } = attempt.call;
    if (splice === undefined || recovery === undefined) return;
    isContinued = true;
    rest = await recovery.next(splice);
    isContinued = rest !== undefined;
    if (isDenied) rest?.discard();
    else if (rest === undefined) endBroken(error);
    else if (sink !== undefined) rest.pipeTo(sink);
  };
  const endBroken = (error: GatewayError) => {
    if (error.code !== 'request.aborted') send(toldOf(error));
    sink?.end();
  };
  const toldOf = ({ type, message, status, code }: GatewayError) => {
    const fault = { type, message, status, code };
    return splice?.errorEvent(fault) ?? reader.errorEvent(fault);
  };
  /** A fault of which the caller has heard nothing yet. */
  const failsUnheard = () =>
    reader.phase === 'failed' && !isCommitted && !(passesOverload && isOverload(reader.fault));
  const failUnheard = (): GatewayError => {
    const error = errorOf(reader.fault);
    breakOff(
      error,
      error.code === 'upstream.error' ? Outcome.UPSTREAM_ERROR : Outcome.UPSTREAM_FAILURE,
    );
    return error;
  };
  const succeed = () => {
    if (attempt.call.isJudged) isAwaited = true;
    else attempt.finishNow(Outcome.SUCCESS, call.status, '', reader.facts);
  };

  call.consume({
    data(chunk) {
      if (isOver) return true;
      const bytes = reader.push(chunk);
      if (failsUnheard()) {
        call.abort(failUnheard());
        return true;
      }
      const hadContent = isCommitted;
      if (reader.phase !== 'preamble') commit();
      if (reader.phase === 'complete') succeed();
      else if (reader.phase === 'failed' && (splice !== undefined || !reader.faultForwarded)) {
        send(bytes);
        const error = errorOf(reader.fault);
        breakOff(error, Outcome.PARTIAL, hadContent);
        call.abort(error);
        return true;
      }
      // The upstream's own error event is passed on; the record tells the truth.
      else if (reader.phase === 'failed')
        attempt.finishNow(Outcome.PARTIAL, call.status, 'upstream.error', reader.facts);
      return send(bytes);
    },
    end() {
      if (isOver) return;
      const last = reader.end();
      // What no blank line ends is read now, and may be all that was said.
      if (failsUnheard()) {
        failUnheard();
        return;
      }
      const passesFault =
        reader.phase === 'failed' && splice === undefined && reader.faultForwarded;
      if (reader.phase === 'complete' || passesFault) {
        isOver = true;
        if (reader.phase === 'complete') succeed();
        else attempt.finishNow(Outcome.PARTIAL, call.status, 'upstream.error', reader.facts);
        commit();
        send(last);
        sink?.end();
        return;
      }
      if (isCommitted) send(last);
      // An event that was cut in its middle is no event of the provider's.
      breakOff(
        reader.phase === 'failed'
          ? errorOf(reader.fault)
          : new GatewayError('upstream.stream_cut', { failureCause: 'closed' }),
        isCommitted ? Outcome.PARTIAL : Outcome.UPSTREAM_FAILURE,
      );
    },
    fail(error) {
      breakOff(
        error,
        error.code === 'request.aborted'
          ? Outcome.CALLER_GONE
          : isCommitted
            ? Outcome.PARTIAL
            : error.code === 'gateway.draining'
              ? Outcome.GATEWAY_ERROR
              : Outcome.UPSTREAM_FAILURE,
      );
    },
  });

  return {
    committed,
    pipeTo(caller) {
      sink = caller;
      caller.onDrain(() => call.resume());
      attempt.readsOnAfter?.addEventListener('abort', () => call.resume(), { once: true });
      let wantsMore = true;
      for (const bytes of preamble.takePieces()) wantsMore = caller.write(bytes);
      if (rest !== undefined) rest.pipeTo(caller);
      else if (isContinued) return;
      else if (isOver) caller.end();
      else if (wantsMore) call.resume();
    },
    discard() {
      const error = new GatewayError('request.superseded');
      breakOff(error, Outcome.CALLER_GONE);
      call.abort(error);
      closeMended(Outcome.CALLER_GONE, error.code);
      rest?.discard();
    },
    conclude(denied) {
      if (rest?.conclude !== undefined) return rest.conclude(denied);
      if (denied === undefined) {
        if (isAwaited) attempt.finishNow(Outcome.SUCCESS, call.status, '', reader.facts);
        closeMended(Outcome.SUCCESS);
        return nothing;
      }
      isOver = true;
      isDenied = true;
      // What was said was paid for.
      attempt.finishNow(Outcome.DENIED, call.status, denied.code, reader.facts);
      closeMended(Outcome.DENIED, denied.code);
      call.abort(denied);
      return toldOf(denied);
    },
  };
}

function lacksOf({ call }: OngoingAttempt, splice: SplicedStream | undefined) {
  return splice === undefined ? undefined : call.recovery?.lacks(splice, call);
}

function errorOf(fault: StreamFault | undefined): GatewayError {
  if (fault?.type === 'invalid_stream')
    return new GatewayError('upstream.invalid_response', { message: fault.message });
  const { message, type, status, vendor } = fault ?? {};
  return new GatewayError('upstream.error', { message, type, status, vendor });
}

function isOverload(fault: StreamFault | undefined): boolean {
  return fault?.type === 'overloaded_error';
}

const nothing = Buffer.alloc(0);

const preambleBytesMax = 256 * 1024;
