import { waitHintMs } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import {
  finalFaultOf,
  hideUsage,
  type JsonObject,
  type ReplyFacts,
  type Translation,
  toldWaitMs,
} from '@sluice/providers';
import type { ApartBytes } from '../exchange/arrived-request.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { BodyReply, Reply, StreamReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import { inTurn } from '../http/large-work.ts';
import { overloaded } from '../http/read-body.ts';
import type { AttemptResult } from './attempt-result.ts';
import type { OngoingAttempt } from './ongoing-attempt.ts';
import { replyHeaders } from './reply-headers.ts';
import { rawReply } from './streams/raw-reply.ts';
import { streamReply } from './streams/stream-reply.ts';
import { compressedStream, isCompressed, unpacked } from './unpack.ts';
import type { Unread, UpstreamCall } from './upstream-call.ts';

const { Outcome } = usage;

export interface ReceiveOptions {
  /** Until the first content event of a stream; 0 = no limit of its own. */
  firstByteTimeoutMs: number;
  replyBytesMax: number;
}

/**
 * The answer of a provider whose head is here: passed on as it comes, read as a
 * stream, or read whole and decoded. @throws GatewayError for what is no answer
 */
export async function receive(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
  options: ReceiveOptions,
): Promise<AttemptResult> {
  attempt.firstByte();
  const { call } = attempt;
  const { translation } = call;
  const isSuccess = upstream.status >= 200 && upstream.status < 300;
  const compressed = isCompressed(upstream.headers);
  if (translation === undefined || passesOn(call, upstream, isSuccess))
    return await receivePassing(attempt, upstream, options);
  const isTold = upstream.isEventStream || call.sentJson.stream === true;
  const keepsPacked = compressed && translation.mode === 'native';
  if (keepsPacked && (isTold || !isSuccess || call.mustInspect))
    return await receivePassing(attempt, upstream, options);
  if (compressed && isSuccess && isTold) {
    upstream.abort(new GatewayError('upstream.invalid_response'));
    throw compressedStream();
  }
  const isStream = isSuccess && isToldAsStream(call, upstream);
  if (isStream instanceof Promise ? await isStream : isStream) {
    const refused = await refusedUnheard(attempt, upstream);
    if (refused !== undefined) return answered(upstream, refused);
    return answered(upstream, await streamed(attempt, upstream, translation, options));
  }
  const bytesMax = isSuccess
    ? options.replyBytesMax
    : Math.min(options.replyBytesMax, errorBytesMax);
  const read = upstream.readOrLeave(bytesMax, holdFor(attempt));
  const came = read instanceof Promise ? await read : read;
  if (keepsPacked && Buffer.isBuffer(came))
    return answered(upstream, await passedPacked(attempt, upstream, came, bytesMax));
  const bytes =
    compressed && Buffer.isBuffer(came)
      ? await opened(attempt, upstream, { bytes: came, bytesMax, isSuccess })
      : came;
  if (!Buffer.isBuffer(bytes)) {
    if (mayPassUnread(call, translation, isSuccess))
      return answered(upstream, rawReply(attempt, upstream));
    const refused = unreadError(bytes, bytesMax);
    upstream.abort(refused);
    throw refused;
  }
  attempt.bodyRead();
  // The whole answer is here: what follows cannot fail for the upstream's sake.
  const decode = () =>
    isSuccess
      ? translation.decode(bytes, call.context, {
          status: upstream.status,
          headers: upstream.headers,
        })
      : translation.decodeError(upstream.status, bytes, call.context);
  const decoding = decodeInTurn(call, bytes.length, decode);
  const decoded = decoding instanceof Promise ? await decoding : decoding;
  if (decoded.isUnread === true && call.mustInspect)
    throw new GatewayError('upstream.response_too_large', {
      message: 'The provider sent a reply of more values than can be checked.',
    });
  const headers = replyHeaders(upstream.headers, decoded.body === undefined);
  if (compressed) delete headers['content-encoding'];
  // Whoever followed it would take the caller's key, and a body in the caller's format, to wherever it points.
  if (!isSuccess) delete headers.location;
  if (decoded.body !== undefined)
    headers['content-type'] = decoded.contentType ?? 'application/json';
  const body = decoded.body ?? bytes;
  if (decoded.body !== undefined && call.requester.contentFormat !== '')
    call.notes.providerAnswer = bytes;
  const plain: BodyReply = { kind: 'body', status: upstream.status, headers, body };
  if (isSuccess) {
    if (call.inspect !== undefined)
      return answered(upstream, await inspected(attempt, plain, decoded.facts, decoded.document));
    await attempt.finish(Outcome.SUCCESS, upstream.status, '', decoded.facts);
    return answered(upstream, plain);
  }
  const { retry, endsOnContentFilter } = call.target.planned;
  const mayRetry = (retry?.attempts ?? 0) > 0;
  const { chargesRefusals } = call.target.entry;
  const fault =
    mayRetry || endsOnContentFilter || chargesRefusals !== undefined
      ? finalFaultOf(upstream.status, bytes.toString('utf8'))
      : undefined;
  const facts: ReplyFacts =
    fault !== undefined && chargesRefusals?.includes(fault)
      ? { ...decoded.facts, isChargedRefusal: true }
      : decoded.facts;
  await attempt.finish(Outcome.UPSTREAM_ERROR, upstream.status, 'upstream.error', facts);
  const result = withToldWait(answered(upstream, plain), bytes, decoded.body !== undefined);
  if (!mayRetry && !endsOnContentFilter) return result;
  return { ...result, isFinal: fault !== undefined, isFiltered: fault === 'content-filter' };
}

/**
 * Whether a success is read as a stream. Servers that people write themselves often say of their streams that they
 * are plain text, HTML, JSON or nothing, and of documents that they are streams: where the other was asked for, its
 * first bytes say what it is.
 */
function isToldAsStream(call: PreparedCall, upstream: UpstreamCall): boolean | Promise<boolean> {
  if (!upstream.isEventStream) return call.sentJson.stream === true && upstream.turnsOutEvents();
  return asksStream(call) || upstream.turnsOutJson().then((isJson) => !isJson);
}

/** Many vendors are asked for it by the path. */
function asksStream({ sentJson, context, requester }: PreparedCall): boolean {
  return sentJson.stream === true || context.stream || requester.subject.wantsStream;
}

/** A wait that no header asks for, and the body does; whoever is answered in another format learns it from `retry-after`. */
function withToldWait(result: AttemptResult, bytes: Buffer, isTranslated: boolean): AttemptResult {
  const { status, waitHintMs: asked, reply } = result;
  if ((status !== 429 && status !== 503) || asked !== undefined || reply === undefined)
    return result;
  const waitMs = toldWaitMs(bytes);
  if (waitMs === undefined) return result;
  if (isTranslated) reply.headers['retry-after'] ??= String(Math.ceil(waitMs / 1000));
  return { ...result, waitHintMs: waitMs };
}

/** What its answer takes is counted for the request; where it is read on after that is over, until it is read. */
function holdFor(attempt: OngoingAttempt): (bytes: number) => boolean {
  const { holdBytes, holdApart } = attempt.call.requester.arrival;
  const caller = attempt.readsOnAfter;
  if (caller === undefined) return holdBytes;
  let apart: ApartBytes | undefined;
  return (bytes) => {
    if (!caller.aborted) return holdBytes(bytes);
    if (apart === undefined) {
      const own = holdApart();
      apart = own;
      attempt.onEnd(() => own.release());
    }
    return apart.grow(bytes);
  };
}

/** An answer that reaches the caller as it came, once whoever has to has looked at it. */
export async function receivePassing(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
  options: ReceiveOptions,
): Promise<AttemptResult> {
  if (mayPass(attempt.call, upstream)) {
    const whole = passedWhole(attempt, upstream);
    return answered(upstream, whole === undefined ? rawReply(attempt, upstream) : await whole);
  }
  return answered(upstream, await inspectedPassing(attempt, upstream, options));
}

/** What was compressed unasked still says what it says; an error that cannot be opened says nothing. */
async function opened(
  attempt: OngoingAttempt,
  { headers }: UpstreamCall,
  { bytes, bytesMax, isSuccess }: { bytes: Buffer; bytesMax: number; isSuccess: boolean },
): Promise<Buffer | Unread> {
  let plain: Buffer | 'too-large';
  try {
    plain = await unpacked(bytes, headers, bytesMax);
  } catch (error) {
    if (isSuccess) throw error;
    return Buffer.alloc(0);
  }
  if (plain === 'too-large') return isSuccess ? plain : Buffer.alloc(0);
  return holdFor(attempt)(plain.length) ? plain : 'overloaded';
}

/** An answer that is the caller's as it came compressed: a copy is unpacked for what it tells. */
async function passedPacked(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
  body: Buffer,
  bytesMax: number,
): Promise<BodyReply> {
  const { call } = attempt;
  const { status, headers } = upstream;
  attempt.bodyRead();
  const plain = await opened(attempt, upstream, { bytes: body, bytesMax, isSuccess: false });
  const facts = Buffer.isBuffer(plain)
    ? await decodeInTurn(call, plain.length, () => factsOf(call, upstream, plain))
    : undefined;
  await attempt.finish(Outcome.SUCCESS, status, '', facts);
  return { kind: 'body', status, headers: replyHeaders(headers, true), body };
}

/** Large documents of a workspace are decoded one after the other. */
function decodeInTurn<T>(
  { requester }: PreparedCall,
  bytes: number,
  decode: () => T,
): T | Promise<T> {
  return inTurn(requester.bundle?.source.workspaceId ?? '', bytes, decode);
}

function answered(upstream: UpstreamCall, reply: Reply): AttemptResult {
  return {
    reply,
    error: undefined,
    status: reply.status,
    isNetworkFailure: false,
    isFinal: false,
    isFiltered: false,
    waitHintMs: reply.status === 429 ? waitHintMs(upstream.headers) : undefined,
  };
}

/**
 * What nobody reads and nothing is held for, where all of it came with its head: its record is written with those of
 * the same turn, and it leaves in one write. Undefined = it passes as it comes.
 */
function passedWhole(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
): Promise<BodyReply> | undefined {
  const { translation, inspect, reservation } = attempt.call;
  const { status } = upstream;
  if (translation !== undefined || inspect !== undefined || reservation !== undefined) return;
  if (!upstream.isWhole || upstream.isEventStream || status < 200 || status > 299) return;
  const headers = replyHeaders(upstream.headers, true);
  const body = upstream.takeWhole();
  return attempt
    .finish(Outcome.SUCCESS, status, '', undefined)
    .then(() => ({ kind: 'body', status, headers, body, isPassed: true }));
}

/** Of what passes as it came: whether nobody has to look at it. Pictures and sound are no texts. */
function mayPass({ mustInspect, requester }: PreparedCall, upstream: UpstreamCall): boolean {
  if (!mustInspect || upstream.status !== 200 || requester.arrival.method === 'HEAD') return true;
  if (requester.subject.operation.reply === 'sound' && isSound(upstream)) return true;
  return /^(?:audio|image|video)\//i.test(String(upstream.headers['content-type']));
}

/** An answer of whatever format: read whole, and looked at. One that cannot be read is refused or passes. */
async function inspectedPassing(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
  options: ReceiveOptions,
): Promise<Reply> {
  const { call } = attempt;
  const compressed = isCompressed(upstream.headers);
  // Whoever judges it hears it as it passes.
  if (call.isJudged && upstream.isEventStream && !compressed) return rawReply(attempt, upstream);
  const bytes =
    compressed || upstream.isEventStream
      ? undefined
      : await upstream.readOrLeave(options.replyBytesMax, holdFor(attempt));
  if (!Buffer.isBuffer(bytes)) {
    return (await refusedUnread(attempt, upstream)) ?? rawReply(attempt, upstream);
  }
  attempt.bodyRead();
  const headers = replyHeaders(upstream.headers, true);
  const plain: BodyReply = { kind: 'body', status: upstream.status, headers, body: bytes };
  return inspected(attempt, plain, factsOf(call, upstream, bytes));
}

/** A stream in which nobody hears what is said, where somebody has to. */
async function refusedUnheard(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
): Promise<BodyReply | undefined> {
  const { mustInspect, requester } = attempt.call;
  const isHeard = requester.subject.operation.hooks.output !== 'none';
  return mustInspect && !isHeard ? refusedUnread(attempt, upstream) : undefined;
}

/** The refusal of an answer that no check can read; undefined = it may pass. */
async function refusedUnread(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
): Promise<BodyReply | undefined> {
  const refused = await attempt.call.inspect?.(undefined);
  if (refused === undefined) return undefined;
  upstream.abort(new GatewayError('guardrail.denied'));
  await attempt.finish(Outcome.DENIED, refused.status, 'guardrail.denied', undefined);
  return refused;
}

/** What a known format says of a reply that is not translated. */
function factsOf(
  { translation, context }: PreparedCall,
  { status, headers }: UpstreamCall,
  bytes: Buffer,
): ReplyFacts | undefined {
  try {
    return translation?.decode(bytes, context, { status, headers }).facts;
  } catch {
    // Not the format after all: nothing to read, nothing to refuse.
    return undefined;
  }
}

/** What reaches the caller as it came, without being read whole. */
function passesOn(
  { requester, translation }: PreparedCall,
  upstream: UpstreamCall,
  isSuccess: boolean,
): boolean {
  const { operation } = requester.subject;
  return (
    operation.body === 'raw' ||
    // Sound is heard while it is made.
    (operation.reply === 'sound' &&
      (translation?.mode === 'native' || (isSuccess && isSound(upstream)))) ||
    // An answer without a body is not of any format.
    requester.arrival.method === 'HEAD'
  );
}

/** No provider has so much to say of an error; it is read as text several times. */
const errorBytesMax = 1024 * 1024;

/** Bytes that are the caller's as they came, and that nobody has to look at first. */
function mayPassUnread(
  { mustInspect }: PreparedCall,
  translation: Translation,
  isSuccess: boolean,
): boolean {
  return (
    translation.mode === 'native' &&
    !mustInspect &&
    (isSuccess || translation.entry.envelope?.translatesErrors !== true)
  );
}

function unreadError(why: Unread, bytesMax: number): GatewayError {
  return why === 'overloaded'
    ? overloaded()
    : new GatewayError('upstream.response_too_large', {
        message: `The provider sent more than the ${bytesMax} bytes that are read, and its reply has to be translated or checked.`,
      });
}

/** Speech in a vendor's own words may still be JSON around it. */
function isSound(call: UpstreamCall): boolean {
  return /^(?:audio\/|application\/octet-stream)/i.test(String(call.headers['content-type']));
}

/** Runs the checks of a complete answer and records what the caller will see of it. */
async function inspected(
  attempt: OngoingAttempt,
  plain: BodyReply,
  facts: ReplyFacts | undefined,
  document?: JsonObject,
): Promise<BodyReply> {
  const { inspect } = attempt.call;
  const checked =
    inspect === undefined || plain.status !== 200 ? undefined : await inspect(plain.body, document);
  const reply =
    checked === undefined
      ? plain
      : { ...checked, headers: { ...plain.headers, ...checked.headers } };
  // A denied answer was paid for all the same.
  const isDenied = reply.isDenial === true;
  await attempt.finish(
    isDenied ? Outcome.DENIED : Outcome.SUCCESS,
    reply.status,
    isDenied ? 'guardrail.denied' : '',
    facts,
  );
  return reply;
}

/** Waits for the first content event: until then a fault is an ordinary error, not a broken stream. */
async function streamed(
  attempt: OngoingAttempt,
  upstream: UpstreamCall,
  translation: Translation,
  options: ReceiveOptions,
): Promise<StreamReply> {
  const { call } = attempt;
  const { target } = call;
  const { mode, entry, upstreamFormat } = translation;
  const recoverable = call.recovery?.open(call, translation);
  const opened = recoverable?.reader ?? translation.openStream(call.context, call.sentJson);
  const reader = call.hidesUsage ? hideUsage(opened) : opened;
  const headers = replyHeaders(upstream.headers, mode === 'native');
  headers['content-type'] = upstream.isEventStream
    ? String(upstream.headers['content-type'])
    : 'text/event-stream';
  if (mode === 'translated' || entry.envelope?.openUnframer)
    headers['content-type'] = 'text/event-stream; charset=utf-8';
  const stream = streamReply({
    call: upstream,
    reader,
    splice: recoverable?.splice,
    attempt,
    passesOverload: upstreamFormat === 'anthropic-messages' && !inspectsOverload(target),
  });
  const timeoutMs = target.planned.firstByteTimeoutMs ?? options.firstByteTimeoutMs;
  if (timeoutMs === 0) await stream.committed;
  else await within(attempt.remainingMs(timeoutMs), timeoutMs, stream.committed, upstream);
  return {
    kind: 'stream',
    status: upstream.status,
    headers,
    pipeTo: stream.pipeTo,
    discard: stream.discard,
    conclude: stream.conclude,
    wasWhole: () => reader.phase === 'complete',
  };
}

/** The integration asks that an overloaded Anthropic counts as a 529, not as a stream that says so. */
function inspectsOverload({ configurations }: Target): boolean {
  const flag =
    configurations.anthropic_inspect_stream_for_overloaded_error ??
    configurations.anthropicInspectStreamForOverloadedError;
  return flag === true || flag === 'true';
}

async function within(
  remainingMs: number,
  timeoutMs: number,
  committed: Promise<void>,
  call: UpstreamCall,
): Promise<void> {
  const timer = setTimeout(
    () =>
      call.abort(
        new GatewayError('upstream.timeout', {
          message: `The provider sent no content within ${timeoutMs} ms.`,
          failureCause: 'timeout',
        }),
      ),
    remainingMs,
  );
  try {
    await committed;
  } finally {
    clearTimeout(timer);
  }
}
