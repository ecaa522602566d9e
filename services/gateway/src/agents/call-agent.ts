import { cardBehindGateway, isCard, joinAgentPath, readAgentReply, ToldSoFar } from '@sluice/a2a';
import { toolBaseUrl } from '@sluice/contracts';
import { errorBodies, GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonObject } from '@sluice/json';
import { encodeEvent } from '@sluice/providers';
import type { Dispatcher } from 'undici';
import { compressedStream, isCompressed, unpacked } from '../calls/unpack.ts';
import { type Unread, UpstreamCall } from '../calls/upstream-call.ts';
import type { CompiledAgentServer } from '../compiled/agent-servers.ts';
import { principalOf } from '../exchange/principal.ts';
import type { BodyReply, Reply, StreamReply } from '../exchange/reply.ts';
import { carriesBody } from '../http/body-stream.ts';
import { isCallerGone } from '../http/caller-gone.ts';
import { claimsOfCaller } from '../identity/tell-identity.ts';
import { addLimitHeaders } from '../limits/refusal.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { cardReply, faceOf } from './agent-card.ts';
import { agentErrorBody } from './agent-error-body.ts';
import { agentFailure } from './agent-failure.ts';
import { agentHeaders, headersForCaller } from './agent-headers.ts';
import type { AgentParts } from './agent-parts.ts';
import { type AgentPlan, agentPlan } from './agent-plan.ts';
import { agentStream, type StreamEnd } from './agent-stream.ts';
import { type BegunCall, beginCall, deniedEnd, outcomeOfAnswer } from './begin-call.ts';
import { callbackPrefix } from './callbacks/callback-addresses.ts';
import { withGivenCallbacks, withOwnCallbacks } from './callbacks/own-callbacks.ts';
import { claimWork, usedSince } from './claim-work.ts';
import { type Destination, destinationOf } from './destination.ts';
import { asksCard, expectCallable } from './expect-callable.ts';
import { type AgentExchange, expectAgentCall } from './find-agent.ts';
import type { AgentGuard } from './guards/agent-guard.ts';
import { guardedStream, type StreamWatch, streamWatch } from './guards/guarded-stream.ts';
import { locationForCaller } from './location.ts';
import { beginTrace, markedHeaders, sumOfCall } from './own-calls.ts';
import { withOwnTasks } from './own-tasks.ts';
import { presentCard } from './present-card.ts';
import {
  type Asked,
  cardRequest,
  judgeAsked,
  mustBeRead,
  placeOf,
  readAsked,
} from './read-asked.ts';

/** Innermost of calls to agents: judges the request, calls, and reads of the answer what has to be known. */
export function callAgent(parts: AgentParts): Stage {
  return (exchange) => {
    expectAgentCall(exchange);
    const { server } = exchange.subject;
    if (server === undefined) throw new Error('callAgent runs after findAgent');
    return new Call(exchange, server, parts).run();
  };
}

class Call {
  readonly #exchange: AgentExchange;
  readonly #server: CompiledAgentServer;
  readonly #parts: AgentParts;
  readonly #plan: AgentPlan;
  /** What looks at what is said; undefined = nothing does. */
  #guard: AgentGuard | undefined;
  #begun: BegunCall | undefined;
  /** Where the agent's own calls are summed; undefined = nowhere. */
  #sum: string | undefined;
  /** The header that tells the agent who calls. */
  #told: Readonly<Record<string, string>> = {};

  constructor(exchange: AgentExchange, server: CompiledAgentServer, parts: AgentParts) {
    this.#exchange = exchange;
    this.#server = server;
    this.#parts = parts;
    this.#plan = agentPlan(server);
  }

  async run(): Promise<Reply> {
    const { headers, unkept } = this.#plan;
    if (unkept === undefined && headers.identity !== undefined) this.#told = await this.#identity();
    const reply = await this.#answer();
    const states = this.#begun?.states ?? [];
    if (states.length > 0)
      addLimitHeaders(reply.headers, states, this.#exchange.arrival.startedAtMs);
    return reply;
  }

  /** @throws GatewayError */
  #identity() {
    const { key, bundle, arrival } = this.#exchange;
    if (key === undefined || bundle === undefined) throw new Error('nobody was let in');
    return this.#parts.identities.headers(this.#plan.headers.identity, {
      claims: claimsOfCaller(key, bundle),
      audience: this.#server.source.url,
      userToken: undefined,
      credential: arrival.caller.serviceKey,
    });
  }

  #answer(): Promise<Reply> {
    const { subject, arrival } = this.#exchange;
    expectCallable(this.#plan, subject);
    const { protocol } = this.#plan;
    if (asksCard(this.#plan, arrival.method, subject)) return this.#card();
    this.#guard = this.#parts.guards.of(this.#exchange, protocol);
    return protocol === 'a2a' ? this.#a2a() : this.#passThrough();
  }

  /** Of an agent that speaks something else: passed on as it is, and nothing of it held back. */
  async #passThrough(): Promise<Reply> {
    const { arrival } = this.#exchange;
    const has = carriesBody(arrival.headers);
    if (this.#guard?.readsRequest === true) return this.#passJudged(this.#guard, has);
    const begun = await this.#begin(undefined);
    this.#exchange.subject.isRead = has;
    const length = arrival.headers['content-length'];
    const headers: Record<string, string> =
      length === undefined || !has ? {} : { 'content-length': length };
    return this.#send(begun, has ? arrival.bodyStream() : undefined, headers, undefined);
  }

  /** The same, once it was read as a whole. */
  async #passJudged(guard: AgentGuard, has: boolean): Promise<Reply> {
    const { arrival, subject } = this.#exchange;
    subject.isRead = has;
    const body = has ? await arrival.readBody() : undefined;
    const begun = await this.#begin(undefined);
    const sent = await this.#judged(begun, () => guard.before(body, undefined));
    return this.#send(begun, sent, {}, undefined);
  }

  async #a2a(): Promise<Reply> {
    const asked = await readAsked(this.#exchange);
    await judgeAsked(this.#exchange, asked, this.#plan, this.#parts);
    const begun = await this.#begin(asked);
    const guard = this.#guard;
    const isRelayed = this.#plan.pushes === 'relayed' && asked.callbacks.length > 0;
    if (guard === undefined && !isRelayed) return await this.#send(begun, asked.body, {}, asked);
    const body = await this.#judged(begun, async () => {
      const judged = guard === undefined ? asked.body : await guard.before(asked.body, asked);
      return judged !== undefined && isRelayed
        ? withOwnCallbacks(judged, this.#exchange, this.#parts.callbacks)
        : judged;
    });
    return await this.#send(begun, body, {}, asked);
  }

  /** Nothing was sent yet: a denial is how the call ends. */
  async #judged<Value>(begun: BegunCall, judge: () => Promise<Value>): Promise<Value> {
    try {
      return await judge();
    } catch (caught) {
      const error = agentFailure(caught);
      await begun.fail(error, false);
      throw error;
    }
  }

  async #begin(asked: Asked | undefined): Promise<BegunCall> {
    const verdicts = this.#guard?.verdicts;
    beginTrace(this.#plan, this.#exchange);
    this.#sum = sumOfCall(this.#plan, this.#exchange, asked, this.#parts);
    const more = { sum: this.#sum, verdicts };
    this.#begun = await beginCall(this.#parts, this.#exchange, this.#plan, asked, more);
    return this.#begun;
  }

  async #send(
    begun: BegunCall,
    body: Dispatcher.DispatchOptions['body'] | undefined,
    more: Record<string, string>,
    asked: Asked | undefined,
  ): Promise<Reply> {
    const startedAt = performance.now();
    const firstByteMs = () => performance.now() - startedAt;
    let call: UpstreamCall | undefined;
    try {
      const destination = destinationOf(
        this.#server,
        this.#exchange.subject.remainder,
        this.#parts,
      );
      const { method } = this.#exchange.arrival;
      call = this.#open(destination, method as Dispatcher.HttpMethod, body, {
        ...markedHeaders(this.#exchange, this.#sum, this.#parts),
        ...more,
      });
      await call.head;
      const ms = firstByteMs();
      if (call.status >= 300 && call.status < 400 && call.status !== 304)
        return await this.#redirect(begun, call, destination, ms);
      // Whose tasks and what usage it tells would not be known.
      if (asked !== undefined && call.isEventStream && isCompressed(call.headers))
        throw compressedStream();
      const guard =
        method !== 'HEAD' && this.#guard?.readsAnswer === true ? this.#guard : undefined;
      const isLooked = mayBeJson(call, asked) || guard !== undefined;
      const holds = method !== 'HEAD' && isLooked && !call.isEventStream;
      const whole = holds ? await this.#read(call) : undefined;
      if (Buffer.isBuffer(whole)) return await this.#whole(begun, call, whole, asked, ms);
      if (call.status < 300 && mustBeRead(asked) && method !== 'HEAD')
        throw this.#unreadable(whole);
      if (guard === undefined) return this.#stream(begun, call, asked, ms);
      return await this.#judgedStream(guard, begun, call, asked, ms, whole);
    } catch (caught) {
      const error = agentFailure(caught);
      call?.abort(error);
      await begun.fail(error);
      throw error;
    }
  }

  /** The whole of an answer, unpacked; why it is not read leaves it to whoever passes it on. @throws GatewayError */
  async #read(call: UpstreamCall): Promise<Buffer | Unread> {
    const { holdBytes } = this.#exchange.arrival;
    const bytesMax = this.#parts.replyBytesMax;
    const came = await call.readOrLeave(bytesMax, holdBytes);
    if (!Buffer.isBuffer(came) || !isCompressed(call.headers)) return came;
    const plain = await unpacked(came, call.headers, bytesMax).catch((error: unknown) => {
      // Of another protocol it is passed on as it is.
      if (this.#plan.protocol !== 'a2a') return undefined;
      throw error;
    });
    if (plain === undefined) return came;
    // What it is made of has been taken: there is nothing left to pass on.
    if (plain === 'too-large')
      throw new GatewayError('upstream.response_too_large', {
        message: `The agent compressed its answer, of more than the ${bytesMax} bytes that are read.`,
      });
    if (!holdBytes(plain.length)) throw this.#unreadable('overloaded');
    delete call.headers['content-encoding'];
    return plain;
  }

  /** What must not pass unread: it may lead around the gateway, or tell of others' tasks. */
  #unreadable(why: string | Buffer | undefined): GatewayError {
    return why === 'overloaded'
      ? new GatewayError('overloaded', { headers: { 'retry-after': '1' } })
      : new GatewayError('agent.bad_card', {
          message: 'The agent answered with something that cannot be read as JSON here.',
        });
  }

  #open(
    { base, by, remainder }: Destination,
    method: Dispatcher.HttpMethod,
    body: Dispatcher.DispatchOptions['body'] | undefined,
    more: Record<string, string> = {},
    signal: AbortSignal = this.#exchange.arrival.signal,
  ): UpstreamCall {
    const { arrival, key } = this.#exchange;
    if (key === undefined) throw new Error('nobody was let in');
    const pool = this.#parts.pools.pool(base.origin, { by, owner: key.source.workspaceId });
    return new UpstreamCall(pool, {
      path: joinAgentPath(base, remainder, arrival.search),
      method,
      headers: {
        ...agentHeaders(arrival, this.#plan.headers, by === 'admin', this.#told),
        ...more,
      },
      body: body ?? null,
      timeoutMs: this.#plan.timeoutMs,
      idleTimeoutMs: this.#plan.idleTimeoutMs,
      signal,
    });
  }

  /** An answer that was read: cards and lists as they may be seen, all else as it came. */
  async #whole(
    begun: BegunCall,
    call: UpstreamCall,
    bytes: Buffer,
    asked: Asked | undefined,
    firstByteMs: number,
  ): Promise<Reply> {
    const value = readJsonObject(bytes, jsonBounds.reply);
    const told = new ToldSoFar();
    let reply: BodyReply = {
      kind: 'body',
      status: call.status,
      headers: headersForCaller(call.headers),
      body: bytes,
    };
    if (asked !== undefined) {
      if (value === undefined && call.status < 300 && mustBeRead(asked))
        throw this.#unreadable(undefined);
      const isChecked = value !== undefined && call.status < 300;
      const changing = isChecked ? this.#changed(value, asked, bytes) : undefined;
      const changed = changing instanceof Promise ? await changing : changing;
      if (changed !== undefined) reply = { ...reply, ...changed };
    }
    if (value !== undefined) told.add(readAgentReply(value));
    if (asked !== undefined && call.status < 400) {
      const claiming = this.#claim(asked, told);
      if (claiming !== undefined) await claiming;
    }
    const { status } = call;
    const increasing = this.#increase(told);
    const usage = increasing instanceof Promise ? await increasing : increasing;
    const end = { status, upstreamStatus: status, firstByteMs, told, usage };
    if (this.#guard?.readsAnswer === true && !(asked?.kind === 'card' && saysCard(value)))
      try {
        const type = String(call.headers['content-type'] ?? '');
        if (isCompressed(call.headers)) await this.#guard.after(undefined, type);
        else reply = { ...reply, body: await this.#guard.after(reply.body, type) };
      } catch (caught) {
        if (caught instanceof GatewayError) await begun.end({ ...end, ...deniedEnd(caught) });
        throw caught;
      }
    await begun.end({ ...outcomeOfAnswer(status, told), ...end, response: reply.body });
    return reply;
  }

  /** What of the answer must be another than the agent's. */
  #changed(
    value: Record<string, unknown>,
    asked: Asked,
    bytes: Buffer,
  ): Partial<BodyReply> | undefined | Promise<Partial<BodyReply>> {
    const isAskedFor = asked.kind === 'card';
    if (isCard(value, isAskedFor)) {
      const { 'if-none-match': known } = this.#exchange.arrival.headers;
      return cardReply(value, this.#face(), known);
    }
    const document: Record<string, unknown> = value;
    const { result } = document;
    if (isCard(result, isAskedFor)) {
      const shown = { ...document, result: cardBehindGateway(result, this.#face()) };
      return { body: Buffer.from(JSON.stringify(shown)) };
    }
    // Some agents show them beside the task as well.
    if (asked.kind === 'push' || (asked.kind !== 'list' && bytes.includes(callbackPrefix))) {
      const { source } = this.#server;
      const given = withGivenCallbacks(bytes, value, source.id, this.#parts.callbacks);
      return given && { body: given };
    }
    if (asked.kind !== 'list') return undefined;
    const { key } = this.#exchange;
    if (key === undefined) return undefined;
    const { notes } = this.#parts;
    return withOwnTasks({ ...document }, notes, placeOf(this.#exchange), principalOf(key)).then(
      (own) => ({ body: Buffer.from(JSON.stringify(own)) }),
    );
  }

  /** An answer that is not there as a whole: heard on its way, or judged as what nobody can read. */
  async #judgedStream(
    guard: AgentGuard,
    begun: BegunCall,
    call: UpstreamCall,
    asked: Asked | undefined,
    firstByteMs: number,
    whole: string | Buffer | undefined,
  ): Promise<Reply> {
    if (whole === 'overloaded') throw this.#unreadable(whole);
    const isPlain = !isCompressed(call.headers);
    const { remainder } = this.#exchange.subject;
    const watch = call.isEventStream && isPlain ? streamWatch(guard, remainder) : undefined;
    if (watch !== undefined) return this.#stream(begun, call, asked, firstByteMs, { guard, watch });
    const { status } = call;
    try {
      await guard.after(undefined, undefined);
    } catch (caught) {
      const end = { upstreamStatus: status, firstByteMs };
      if (caught instanceof GatewayError) await begun.end({ ...end, ...deniedEnd(caught) });
      throw caught;
    }
    return this.#stream(begun, call, asked, firstByteMs);
  }

  #stream(
    begun: BegunCall,
    call: UpstreamCall,
    asked: Asked | undefined,
    firstByteMs: number,
    judged?: { guard: AgentGuard; watch: StreamWatch },
  ): StreamReply {
    const headers = headersForCaller(call.headers);
    const length = call.headers['content-length'];
    if (length !== undefined && !call.isEventStream) headers['content-length'] = length;
    if (call.isEventStream) {
      headers['x-accel-buffering'] = 'no';
      headers['cache-control'] ??= 'no-cache';
    }
    const { isEventStream, status } = call;
    const isPlain = !isCompressed(call.headers);
    const told = isEventStream && isPlain ? new ToldSoFar() : undefined;
    const onEnd = async (end: StreamEnd | undefined, denied?: GatewayError) => {
      const usage = told && (await this.#increase(told));
      const ended = { status, upstreamStatus: status, firstByteMs, told, usage };
      if (denied !== undefined) return begun.end({ ...ended, ...deniedEnd(denied), status });
      if (end?.isWhole === true) return begun.end({ ...outcomeOfAnswer(status, told), ...ended });
      const { error } = end ?? {};
      return begun.end({
        outcome: error?.code === 'request.aborted' ? 'caller_gone' : 'partial',
        errorCode: error?.code ?? 'request.superseded',
        failureCause: error?.failureCause,
        ...ended,
      });
    };
    const open = (listener: (end: StreamEnd) => Promise<void>) =>
      agentStream({
        call,
        headers,
        told,
        onNamed: () =>
          told === undefined || asked === undefined ? undefined : this.#claim(asked, told),
        onEnd: listener,
      });
    if (judged === undefined) return open(onEnd);
    const { arrival } = this.#exchange;
    return guardedStream(open, {
      ...judged,
      errorEvent: (error) => this.#errorEvent(error),
      abort: (error) => call.abort(error),
      isGone: () => isCallerGone(arrival.signal),
      onEnd,
    });
  }

  #errorEvent(error: GatewayError): Buffer {
    const { subject, arrival } = this.#exchange;
    const { requestIdText } = arrival;
    const body =
      agentErrorBody(error, subject, requestIdText) ??
      errorBodies[subject.operation.errors](error, requestIdText);
    // As servers of A2A say it by REST, and clients look for it.
    const isNamed = this.#plan.protocol === 'a2a' && subject.rpcId === undefined;
    return encodeEvent(isNamed ? 'error' : '', body);
  }

  #claim(asked: Asked, told: ToldSoFar): Promise<void> | undefined {
    return claimWork(this.#parts.notes, this.#exchange, asked, told, this.#sum);
  }

  #increase(told: ToldSoFar) {
    return usedSince(this.#parts.notes, this.#exchange, told);
  }

  /** Not followed; the caller is told where it leads only as far as that is this agent. */
  async #redirect(
    begun: BegunCall,
    call: UpstreamCall,
    { base }: Destination,
    firstByteMs: number,
  ): Promise<Reply> {
    const location = locationForCaller(call.headers.location, base, this.#face());
    if (location === undefined) throw new GatewayError('agent.redirected');
    const { status } = call;
    const headers = { ...headersForCaller(call.headers), location };
    call.abort(new GatewayError('request.superseded'));
    await begun.end({ outcome: 'success', status, upstreamStatus: status, firstByteMs });
    return { kind: 'body', status, headers, body: Buffer.alloc(0) };
  }

  /** The agent's present card; the one that was saved where it shows none. */
  async #card(): Promise<Reply> {
    const { arrival } = this.#exchange;
    const begun = await this.#begin(cardRequest);
    const startedAt = performance.now();
    try {
      const card = await presentCard(this.#server, {
        ...this.#parts,
        signal: arrival.signal,
        open: (destination) => this.#open(destination, 'GET', undefined),
      });
      const reply = cardReply(card, this.#face(), arrival.headers['if-none-match']);
      const firstByteMs = performance.now() - startedAt;
      await begun.end({ outcome: 'success', status: reply.status, firstByteMs });
      return reply;
    } catch (caught) {
      const error = agentFailure(caught);
      await begun.fail(error);
      throw error;
    }
  }

  #face() {
    const { addresses, sealed, keyHeader } = this.#parts;
    const { host } = this.#exchange.arrival.headers;
    const base = toolBaseUrl(addresses, { host, proto: 'http' });
    return faceOf(this.#server, this.#plan, base, sealed, keyHeader);
  }
}

/** Answers of A2A are JSON whatever they are called: there are clients that read them as that. */
function mayBeJson({ headers, isUntold }: UpstreamCall, asked: Asked | undefined): boolean {
  if (/^(?:application|text)\/(?:[\w.+-]+\+)?json\b/i.test(String(headers['content-type'] ?? '')))
    return true;
  return asked !== undefined && (asked.kind !== undefined || isUntold);
}

function saysCard(value: Record<string, unknown> | undefined): boolean {
  const result = value?.result;
  return isCard(value) || isCard(result);
}
