import { fromUnknown } from '@sluice/errors';
import type { Children } from '../children/children.ts';
import type { ContentKeeper } from '../content/content-keeper.ts';
import type { ServerEvent } from '../exchange/event.ts';
import type { EventRequester } from '../exchange/event-requester.ts';
import type { LimitCheck } from '../exchange/limits.ts';
import type { CounterState, Estimate, Used } from '../exchange/reservation.ts';
import { type EventHold, holdForEvent, peekEvent, postForEvent } from '../limits/event-limits.ts';
import type { LimitStore } from '../limits/limit-store.ts';
import type { LimitWatchers } from '../limits/request-limits.ts';
import { type CallPrice, costOf, priceOfCall } from '../money/call-price.ts';
import { tokensOfAsked, tokensOfResult } from '../money/event-tokens.ts';
import { type ToldTokens, toldTokensMax, usageInToolResult } from '../money/told-tokens.ts';
import {
  type EventFacts,
  type EventOutcome,
  type EventUse,
  type EventWay,
  type RecordedEvent,
  type Refusal,
  recordAgentCall,
  recordRefusedEvent,
  recordToolCall,
} from '../usage/record-event.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import { type BilledElsewhere, lessBilled } from './billed-elsewhere.ts';

export interface MeterDeps {
  readonly recorder: UsageRecorder;
  readonly limits: LimitStore;
  readonly watch: LimitWatchers;
  /** Undefined = nobody keeps content. */
  readonly content: ContentKeeper | undefined;
  readonly children: Children;
  /** Hears of each call that is over, or was refused. */
  readonly onEnded?: ((ended: EndedCall) => void) | undefined;
}

export interface EndedCall {
  readonly event: ServerEvent;
  /** As records have it, or that the server answered and its tool failed. */
  readonly outcome: EventOutcome | 'tool_failed';
  /** From its beginning to its end; 0 = it was refused. */
  readonly ms: number;
}

/** What is known of a call before it is made. */
export interface CallBegin extends EventWay {
  readonly event: ServerEvent;
  /** The server's policy as admins set it, parsed: its `prices` are looked at. Absent = it costs nothing. */
  readonly policy?: unknown;
  /** The message that is sent: content keeps it, and where it is all there is to go by, tokens are estimated by it. */
  readonly request?: Buffer | undefined;
  /** Of it what a tool reads, parsed. */
  readonly arguments?: unknown;
}

/** What a call came to. */
export interface CallEnd extends EventFacts {
  /** Of MCP: the `result` of the answer, parsed; usage is read in it, else estimated from its texts. */
  readonly result?: unknown;
  /** What content keeps of the answer. */
  readonly response?: Buffer | undefined;
  /** Of an agent: what it says it used, less what was billed of the same task before. Absent = it says nothing. */
  readonly told?: ToldTokens | undefined;
  /** Of that: what is billed with the agent's own calls. Absent = nothing. */
  readonly elsewhere?: BilledElsewhere | undefined;
  /** Something was sent, and may have been done: default true, but for `upstream_error`, `denied` and `gateway_error`. */
  readonly isSent?: boolean | undefined;
}

/** A call that may be made: its limits hold what it needs, and it is noted. */
export interface MeteredCall {
  /** How far its limits are, for the headers of the answer. */
  readonly states: readonly CounterState[];
  /** Once, whatever became of it: counts, records, lets go. Neither waits for the ledger nor rejects. */
  end(end: CallEnd): Promise<void>;
}

/** More than few results have, in tokens; what a budget by tokens holds of a call whose answer nobody knows. */
const resultTokensDefault = 8192;
const noStates: readonly CounterState[] = Object.freeze([]);

/**
 * Every call of an MCP server and of an agent passes here, whoever makes it: limits
 * first, then the note in the outbox, then the call, then what it used. One event,
 * one record (docs/ledger.md).
 */
export class CallMeter {
  readonly #deps: MeterDeps;

  constructor(deps: MeterDeps) {
    this.#deps = deps;
  }

  /**
   * To be called before anything is sent.
   * @throws GatewayError 429, 412, 503 of a limit, with `retry-after` where it is known when to come again, or
   * `gateway.ledger_full`; it is recorded, and the call must not be made
   */
  async begin(requester: EventRequester, begin: CallBegin): Promise<MeteredCall> {
    const { recorder, limits, watch } = this.#deps;
    const { event } = begin;
    const { price, inputTokens, estimate } = this.foresee(begin);
    let hold: EventHold | undefined;
    try {
      const holding = holdForEvent(limits, requester, event, () => estimate, watch);
      hold = holding instanceof Promise ? await holding : holding;
    } catch (error) {
      await this.refuse(requester, event, fromUnknown(error), begin);
      throw error;
    }
    const record = event.kind === 'mcp' ? recordToolCall : recordAgentCall;
    let recorded: RecordedEvent;
    try {
      recorded = record(recorder, requester, {
        event,
        way: begin,
        reservation: hold?.reservation,
        least: { inputTokens, costNanoUsd: costOf(price, inputTokens) },
      });
    } catch (error) {
      hold?.close();
      throw error;
    }
    try {
      await recorded.written;
    } catch (error) {
      const refused = recorded.refuse(error);
      hold?.close();
      throw refused;
    }
    hold?.reservation.begin();
    return this.#metered(requester, begin, { hold, recorded, price, inputTokens });
  }

  /** A call that ends before it is made: not allowed, denied by a check, not understood. Its one record. */
  async refuse(
    requester: EventRequester,
    event: ServerEvent,
    error: Refusal,
    way: EventWay = {},
  ): Promise<void> {
    this.#deps.onEnded?.({ event, outcome: 'denied', ms: 0 });
    await recordRefusedEvent(this.#deps.recorder, requester, event, error, way).catch(() => {});
  }

  /** How the limits of a call stand, and which do not apply; takes nothing. */
  peek(requester: EventRequester, begin: CallBegin): Promise<LimitCheck[]> {
    const { event } = begin;
    return peekEvent(this.#deps.limits, requester, event, () => this.foresee(begin).estimate);
  }

  /** What a call costs, and what of it is known before it is made. */
  foresee({ event, policy, request, arguments: asked }: CallBegin): ForeseenUse {
    const price = priceOfCall(policy, event);
    const inputTokens = event.spends ? tokensOfAsked(request, asked) : 0;
    return { price, inputTokens, estimate: estimateOf(price, inputTokens) };
  }

  /**
   * What an agent tells of work that was begun by a call before: counted where that was,
   * and no further request. A limit that is spent refuses nothing here: the work is done.
   */
  async #postLate(requester: EventRequester, event: ServerEvent, used: Used): Promise<void> {
    const { limits, watch } = this.#deps;
    try {
      await postForEvent(limits, requester, event, used, watch.open);
    } catch {
      // It cannot be asked: the record says all the same what was used.
    }
  }

  #metered(
    requester: EventRequester,
    { event, request }: CallBegin,
    { hold, recorded, price, inputTokens }: Begun,
  ): MeteredCall {
    const { content, onEnded, children } = this.#deps;
    const post = (told: ServerEvent, used: Used) => this.#postLate(requester, told, used);
    const startedAt = performance.now();
    let isOver = false;
    return {
      states: hold?.reservation.states ?? noStates,
      end(end) {
        if (isOver) return Promise.resolve();
        isOver = true;
        const due = wasSent(end) ? price : { ...price, callNanoUsd: 0 };
        const told = useOf(event, due, inputTokens, end);
        const { elsewhere } = end;
        return elsewhere === undefined || told.source !== 'reported'
          ? settle(end, told)
          : lessBilled(told, due, elsewhere, requester, children).then((use) => settle(end, use));
      },
    };

    function settle(end: CallEnd, use: EventUse): Promise<void> {
      const used = { tokens: use.inputTokens + use.outputTokens, costNanoUsd: use.costNanoUsd };
      hold?.reservation.post(used);
      const isLate = !event.spends && used.tokens + used.costNanoUsd > 0;
      const counted = children.add(requester, use, end.elsewhere?.sums);
      if (!isLate && counted === undefined) return close(end, use);
      return Promise.all([counted, isLate && post(event, used)]).then(() => close(end, use));
    }

    function close(end: CallEnd, use: EventUse): Promise<void> {
      const hasFailed = end.outcome !== 'success' || end.toolFailed === true;
      const format = content?.keepEvent(requester, event, {
        id: recorded.id,
        status: end.status ?? (end.outcome === 'success' ? 200 : 500),
        startedAt,
        hasFailed,
        request,
        response: end.response,
      });
      const toolError =
        end.toolError !== undefined &&
        content?.visibleOfEvent(requester, event, hasFailed).response === true
          ? end.toolError
          : undefined;
      onEnded?.({
        event,
        outcome: end.outcome === 'success' && end.toolFailed === true ? 'tool_failed' : end.outcome,
        ms: performance.now() - startedAt,
      });
      const stored = recorded.end(
        toolError === end.toolError ? end : { ...end, toolError },
        use,
        format ?? '',
      );
      // Settled with its record: who dies between the two settles in the next life.
      hold?.reservation.finish();
      hold?.close();
      return stored;
    }
  }
}

export interface ForeseenUse {
  readonly price: CallPrice;
  readonly inputTokens: number;
  /** What limits hold of it. */
  readonly estimate: Estimate;
}

interface Begun {
  readonly hold: EventHold | undefined;
  readonly recorded: RecordedEvent;
  readonly price: CallPrice;
  readonly inputTokens: number;
}

function estimateOf(price: CallPrice, inputTokens: number): Estimate {
  const tokens = inputTokens + resultTokensDefault;
  return { requests: 1, tokens, costNanoUsd: costOf(price, tokens) };
}

const notSent: ReadonlySet<string> = new Set(['upstream_error', 'denied', 'gateway_error']);

function wasSent({ isSent, outcome }: CallEnd): boolean {
  return isSent ?? !notSent.has(outcome);
}

/** What is billed of a call, by how it ended (docs/limits.md). */
function useOf(event: ServerEvent, price: CallPrice, sentTokens: number, end: CallEnd): EventUse {
  const told = end.told ?? (event.kind === 'mcp' ? usageInToolResult(end.result) : undefined);
  const isTold = told !== undefined && (told.inputTokens > 0 || told.outputTokens > 0);
  if (!event.spends && !(event.kind === 'agent' && isTold)) return nothingUsed;
  if (!wasSent(end) && told === undefined) return nothingUsed;
  if (told !== undefined && isPlausible(told))
    return priced(price, told.inputTokens, told.outputTokens, 'reported', false);
  const isImplausible = told !== undefined;
  if (event.kind === 'agent') return priced(price, 0, 0, 'missing', isImplausible);
  const seen = end.result === undefined ? 0 : Math.min(tokensOfResult(end.result), toldTokensMax);
  return priced(price, sentTokens, seen, 'estimated', isImplausible);
}

function isPlausible({ inputTokens, outputTokens, isImplausible }: ToldTokens): boolean {
  const isCount = (tokens: number) =>
    Number.isInteger(tokens) && tokens >= 0 && tokens <= toldTokensMax;
  return isImplausible !== true && isCount(inputTokens) && isCount(outputTokens);
}

function priced(
  price: CallPrice,
  inputTokens: number,
  outputTokens: number,
  source: EventUse['source'],
  isImplausible: boolean,
): EventUse {
  const { callNanoUsd, tokenNanoUsd } = price;
  return {
    inputTokens,
    outputTokens,
    costNanoUsd: costOf(price, inputTokens + outputTokens),
    inputCostNanoUsd: Math.round(inputTokens * tokenNanoUsd),
    outputCostNanoUsd: Math.round(outputTokens * tokenNanoUsd),
    isPriced: callNanoUsd > 0 || tokenNanoUsd > 0,
    source,
    isImplausible,
  };
}

const nothingUsed: EventUse = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  costNanoUsd: 0,
  inputCostNanoUsd: 0,
  outputCostNanoUsd: 0,
  isPriced: false,
  source: 'none',
  isImplausible: false,
});
