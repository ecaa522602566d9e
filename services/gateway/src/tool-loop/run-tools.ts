import type { JsonObject, PublicAddresses } from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import { isObject, type Sealer } from '@sluice/mcp';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { principalOf } from '../exchange/principal.ts';
import type { BodyReply, Reply, StreamReply } from '../exchange/reply.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { overloaded } from '../http/read-body.ts';
import type { ToolCaller } from '../mcp/tool-caller.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { noteRequest } from '../pipeline/stages/read-request.ts';
import { type AskedOfRequest, askedOfRequest, mayAsk } from './asked-of-request.ts';
import type { LoopFormat, Turn } from './loop-format.ts';
import { MessagesFormat } from './messages-format.ts';
import { offeredTools } from './offered-tools.ts';
import { ResponsesFormat } from './responses-format.ts';
import { type ApprovalSeal, ownLabels, withPlainHistory } from './responses-history.ts';
import { openRound } from './rounds.ts';
import { failed } from './tool-answer.ts';
import { type LoopBounds, ToolRuns } from './tool-runs.ts';
import { ToolStream } from './tool-stream.ts';
import type { UntoldAnswers } from './untold-answers.ts';

export interface RunToolsParts {
  readonly caller: ToolCaller;
  readonly sealer: Sealer;
  readonly untold: UntoldAnswers;
  readonly addresses: PublicAddresses;
  readonly bounds: LoopBounds;
  /** One visit of the model by the pipeline: with limits, routing and records of its own. */
  readonly ask: (round: ModelExchange) => Promise<Reply>;
  /** The same behind calls: the caller is let in anew, and config and limits are those that hold by then. */
  readonly askAgain: (round: ModelExchange) => Promise<Reply>;
}

/**
 * Requests that name MCP servers of ours: the model is asked, the tools that it calls are called, and it is asked again,
 * until it is done. All other requests pass.
 */
export function runTools(parts: RunToolsParts): Stage {
  return (exchange, next) => {
    expectModelCall(exchange);
    return mayAsk(exchange) ? run(exchange, next, parts) : passed(exchange, next, parts);
  };
}

/** What tools of ours said in kept responses is told as what functions said. */
function passed(
  exchange: ModelExchange,
  next: () => Promise<Reply>,
  parts: RunToolsParts,
): Promise<Reply> {
  const { subject } = exchange;
  const labels = keptLabels(exchange);
  if (labels.length === 0) return next();
  const json = withPlainHistory(subject.json ?? {}, new Set(labels), sealOf(exchange, parts));
  const body = Buffer.from(JSON.stringify(json));
  if (!exchange.arrival.holdBytes(body.length)) throw overloaded();
  subject.body = body;
  noteRequest(exchange, json);
  return next();
}

/** Servers whose tools the gateway ran in responses that the service kept, and that are no vendor's in this request. */
function keptLabels({ subject }: ModelExchange): string[] {
  const { bringsKept, json = {} } = subject;
  if (bringsKept !== true) return [];
  const tools = Array.isArray(json.tools) ? json.tools.filter(isObject) : [];
  const vendors = new Set(tools.map(({ server_label: label }) => label));
  return ownLabels(json).filter((label) => !vendors.has(label));
}

async function run(
  exchange: ModelExchange,
  next: () => Promise<Reply>,
  parts: RunToolsParts,
): Promise<Reply> {
  const asked = askedOfRequest(exchange, parts.addresses);
  if (asked === undefined) return passed(exchange, next, parts);
  // What is refused from here on is not for want of a limit's word.
  exchange.isRouting = true;
  const loop = new ToolLoop(exchange, await formatOf(exchange, asked, parts), parts);
  return loop.run();
}

async function formatOf(
  exchange: ModelExchange,
  asked: AskedOfRequest,
  parts: RunToolsParts,
): Promise<LoopFormat> {
  const { caller } = parts;
  const { subject, arrival } = exchange;
  const json = subject.json ?? {};
  const servers = await Promise.all(
    asked.servers.map(async (server) => {
      const entered = await caller.enter(exchange, server.meant, arrival.signal);
      return { asked: server, server: entered, tools: await caller.list(entered) };
    }),
  );
  const { otherTools, otherServers, cacheMarks, taken } = asked;
  const labels = new Set(asked.servers.map(({ label }) => label));
  const common = { json, otherTools, labels, offered: offeredTools(servers, taken), taken };
  if (subject.operation.id === 'messages')
    return new MessagesFormat({ ...common, otherServers, cacheMarks });
  const { previous_response_id: previous } = json;
  const untold = typeof previous === 'string' ? await parts.untold.of(exchange, previous) : [];
  const seal = sealOf(exchange, parts);
  return new ResponsesFormat({ ...common, seal, untold, earlier: keptLabels(exchange) });
}

function sealOf({ key }: ModelExchange, { sealer }: RunToolsParts): ApprovalSeal {
  if (key === undefined) throw new Error('tools are run after authentication');
  return { sealer, principal: principalOf(key), nowMs: Date.now() };
}

/** One request, round for round. */
export class ToolLoop {
  readonly #exchange: ModelExchange;
  readonly #format: LoopFormat;
  readonly #parts: RunToolsParts;
  readonly #runs: ToolRuns;
  #rounds = 0;
  #hasCalled = false;
  /** The round that was asked last was told to call nothing. */
  #wasLast = false;

  constructor(exchange: ModelExchange, format: LoopFormat, parts: RunToolsParts) {
    this.#exchange = exchange;
    this.#format = format;
    this.#parts = parts;
    const { max_tool_calls: callsMax } = exchange.subject.json ?? {};
    this.#runs = new ToolRuns(
      parts.caller,
      parts.bounds,
      typeof callsMax === 'number' && callsMax >= 0 ? callsMax : undefined,
    );
  }

  async run(): Promise<Reply> {
    await this.#call(this.#format.approved, () => {});
    const first = await this.#ask();
    if (first.kind === 'stream') return this.#stream(first);
    return this.#whole(first);
  }

  async #whole(first: BodyReply): Promise<Reply> {
    let reply: Reply = first;
    for (;;) {
      if (reply.kind === 'stream') {
        reply.discard();
        throw new GatewayError('upstream.invalid_response');
      }
      const document = isAnswer(reply) ? jsonObjectIn(reply.body) : undefined;
      if (document === undefined) return this.#unrepeatable(reply);
      const turn = this.#format.takeAnswer(document);
      await this.#finish(turn, () => {});
      if (turn.isLast) return answered(reply, this.#format.document(false));
      if (this.#mustEnd()) return answered(reply, this.#format.document(true));
      reply = await this.#ask();
    }
  }

  #stream(first: StreamReply): StreamReply {
    const { headers, status } = first;
    delete headers['content-length'];
    const stream = new ToolStream({
      first,
      format: this.#format,
      signal: this.#exchange.arrival.signal,
      isOver: () => this.#mustEnd(),
      call: (turn: Turn, tell: (events: string) => void) => this.#finish(turn, tell),
      ask: () => this.#ask(),
    });
    return {
      kind: 'stream',
      status,
      headers,
      pipeTo: (sink) => stream.pipeTo(sink),
      discard: () => first.discard(),
      wasWhole: () => stream.wasWhole,
    };
  }

  /** One more round is asked, unless it would be one too many. */
  async #ask(): Promise<Reply> {
    this.#rounds += 1;
    this.#wasLast = this.#format.endsByChoice && this.#isOver();
    const round = openRound(this.#exchange, this.#format.body(this.#wasLast), this.#rounds);
    if (!this.#exchange.arrival.holdBytes(round.subject.body?.length ?? 0)) throw overloaded();
    const { ask, askAgain } = this.#parts;
    const isAgain = this.#rounds > 1 || this.#hasCalled;
    try {
      return await (isAgain ? askAgain : ask)(round);
    } catch (error) {
      throw isAgain ? onlyOnce(fromUnknown(error)) : error;
    } finally {
      addProgress(this.#exchange, round);
    }
  }

  /** Its calls are made, and what they came to can be gone on from. */
  async #finish(turn: Turn, tell: (events: string) => void): Promise<void> {
    await this.#call(turn.calls, tell);
    const { untold } = this.#format;
    if (untold !== undefined && (turn.isLast || this.#mustEnd()))
      await this.#parts.untold.note(this.#exchange, untold);
  }

  async #call(calls: Turn['calls'], tell: (events: string) => void): Promise<void> {
    if (calls.length === 0) return;
    if (this.#wasLast) {
      for (const call of calls) tell(this.#format.addAnswer(call, notAnyMore));
      return;
    }
    this.#hasCalled = true;
    const { signal } = this.#exchange.arrival;
    try {
      await this.#runs.run(calls, signal, (call, answer) =>
        tell(this.#format.addAnswer(call, answer)),
      );
    } catch (error) {
      // Some of them may have been made.
      throw onlyOnce(fromUnknown(error));
    }
  }

  /** Behind a round whose calls are made: whether nothing more may be asked. */
  #mustEnd(): boolean {
    // The last one was told so, and called all the same.
    return this.#format.endsByChoice ? this.#wasLast : this.#isOver();
  }

  #isOver(): boolean {
    const { roundsMax, timeoutMs } = this.#parts.bounds;
    const { startedAt } = this.#exchange.arrival;
    return this.#rounds >= roundsMax || performance.now() - startedAt >= timeoutMs;
  }

  /** A refusal, or what is no answer. Clients must not send again what was done. */
  #unrepeatable(reply: BodyReply): BodyReply {
    if (this.#hasCalled) reply.headers['x-should-retry'] = 'false';
    return reply;
  }
}

const notAnyMore = failed('The call was not made: the model was asked as often as it may be.');

function isAnswer({ status }: BodyReply): boolean {
  return status === 200 || status === 246;
}

function answered(reply: BodyReply, document: JsonObject): BodyReply {
  const { headers } = reply;
  return {
    ...reply,
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(document)),
  };
}

/** The official clients repeat what failed, unless they are told not to. */
function onlyOnce(error: GatewayError): GatewayError {
  return new GatewayError(error.code, {
    ...error,
    message: error.message,
    cause: error.cause,
    headers: { ...error.headers, 'x-should-retry': 'false' },
  });
}

/** What was done for a round was done for its request. */
function addProgress(exchange: ModelExchange, round: ModelExchange): void {
  exchange.visits.push(...round.visits);
  exchange.contentFormat = round.contentFormat;
  const { progress } = exchange;
  progress.attempts += round.progress.attempts;
  progress.tries += round.progress.tries;
  // Each round that ended without a call has a record of its own.
  progress.refusals += Math.max(round.progress.refusals, round.progress.attempts === 0 ? 1 : 0);
  progress.takeUse(round.progress);
  if (progress.preProcessingMs === 0) progress.preProcessingMs = round.progress.preProcessingMs;
}
