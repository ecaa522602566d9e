import { readAgentReply, type ToldSoFar } from '@sluice/a2a';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonText } from '@sluice/json';
import { parseSseEvents, SseFramer } from '@sluice/providers';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import type { ReplyHeaders, ReplySink, StreamReply } from '../exchange/reply.ts';

/** A comment between two events: proxies on the way see that the stream lives. */
const keepAlive = Buffer.from(': keep-alive\n\n');
const keepAliveMs = 15_000;

/** How a stream ended. */
export interface StreamEnd {
  /** The agent ended it. */
  readonly isWhole: boolean;
  /** Why it did not. */
  readonly error: GatewayError | undefined;
}

export interface StreamOptions {
  readonly call: UpstreamCall;
  readonly headers: ReplyHeaders;
  /** What its events tell; undefined = they are not read. */
  readonly told: ToldSoFar | undefined;
  /** The task or the context became known; what it returns is waited for before the caller hears of it. */
  readonly onNamed: () => Promise<void> | undefined;
  /** Once. The end is sent when it resolves. */
  readonly onEnd: (end: StreamEnd) => Promise<void>;
  readonly keepAliveMs?: number;
}

/** Bytes of an agent's answer, passed on as they come; what they tell is read beside. */
export function agentStream(options: StreamOptions): StreamReply {
  const { call, headers, told, onNamed, onEnd } = options;
  let isWhole = false;
  const ended = (end: StreamEnd) => onEnd(end);
  const status = call.status;
  return {
    kind: 'stream',
    status,
    headers,
    pipeTo(sink) {
      const reader = told === undefined ? undefined : new EventTap(told);
      const pulse = call.isEventStream
        ? new Pulse(sink, options.keepAliveMs ?? keepAliveMs)
        : undefined;
      let waiting: Promise<void> | undefined;
      const held: Buffer[] = [];
      sink.onDrain(() => {
        if (waiting === undefined) call.resume();
      });
      const pass = (chunk: Buffer) => {
        pulse?.passed(chunk);
        return sink.write(chunk);
      };
      const named = (): Promise<void> | undefined =>
        reader?.hasNewNames() === true ? onNamed() : undefined;
      const holdUntil = async (noting: Promise<void>) => {
        // What is held meanwhile may name more.
        for (let next: typeof waiting = noting; next !== undefined; next = named()) await next;
        waiting = undefined;
        let wantsMore = true;
        for (const piece of held.splice(0)) wantsMore = pass(piece);
        if (wantsMore) call.resume();
      };
      const afterWaiting = (then: () => void) => {
        if (waiting === undefined) then();
        else void waiting.then(then);
      };
      call.consume({
        data(chunk) {
          reader?.add(chunk);
          if (waiting !== undefined) {
            held.push(chunk);
            return false;
          }
          const noting = named();
          if (noting === undefined) return pass(chunk);
          held.push(chunk);
          waiting = holdUntil(noting);
          return false;
        },
        end() {
          afterWaiting(() => {
            pulse?.stop();
            reader?.end();
            isWhole = true;
            void Promise.resolve(named())
              .then(() => ended({ isWhole: true, error: undefined }))
              .finally(() => sink.end());
          });
        },
        fail(error) {
          afterWaiting(() => {
            pulse?.stop();
            reader?.end();
            void ended({ isWhole: false, error });
            sink.cut(error.code);
          });
        },
      });
    },
    discard() {
      const error = new GatewayError('request.superseded');
      void ended({ isWhole: false, error });
      call.abort(error);
    },
    wasWhole: () => isWhole,
  };
}

const ticksOfPulse = 3;

/** Says that a stream lives while its agent says nothing, but never within an event. */
class Pulse {
  readonly #timer: NodeJS.Timeout;
  #isBetweenEvents = true;
  /** Since something was said: beginning a timer anew costs more than counting. */
  #quietTicks = 0;

  /** @param ms at most so long, and no less than two thirds of it, nothing is said */
  constructor(sink: ReplySink, ms: number) {
    this.#timer = setInterval(() => {
      this.#quietTicks++;
      if (this.#quietTicks < ticksOfPulse) return;
      this.#quietTicks = 0;
      if (this.#isBetweenEvents) sink.write(keepAlive);
    }, ms / ticksOfPulse);
    this.#timer.unref();
  }

  passed(chunk: Buffer): void {
    const { length } = chunk;
    // Line ends of one kind are all that is sent in earnest; with others there is no comment.
    this.#isBetweenEvents =
      length >= 2 &&
      chunk[length - 1] === 0x0a &&
      (chunk[length - 2] === 0x0a || chunk.subarray(-4).equals(crlfs));
    this.#quietTicks = 0;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

const crlfs = Buffer.from('\r\n\r\n');

/**
 * Reads of a stream what is needed: the first events for the names of task and
 * context, those that speak of usage, and of the states the last.
 */
class EventTap {
  readonly #told: ToldSoFar;
  readonly #framer = new SseFramer({ shortens: true });
  #lastState: Buffer | undefined;
  #namesTold = 0;

  constructor(told: ToldSoFar) {
    this.#told = told;
  }

  add(chunk: Buffer): void {
    const events = this.#framer.push(chunk);
    if (events !== undefined) this.#look(events);
  }

  end(): void {
    const rest = this.#framer.end();
    if (rest !== undefined) this.#look(rest);
    this.#readLastState();
  }

  /** Since it was asked last. */
  hasNewNames(): boolean {
    const { taskId, contextId } = this.#told;
    const names = Number(taskId !== undefined) + Number(contextId !== undefined);
    const isNew = names > this.#namesTold;
    this.#namesTold = names;
    return isNew;
  }

  #look(events: Buffer): void {
    const { taskId, contextId } = this.#told;
    // What is looked for is ASCII, and looking for it in a string takes a fraction of looking in bytes.
    const text = events.toString('latin1');
    const speaksOfUsage = text.includes('usage') || text.includes('Usage');
    if (taskId === undefined || contextId === undefined || speaksOfUsage) {
      this.#readLastState();
      this.#read(events);
    } else if (text.includes('"state"') || text.includes('"error"')) this.#lastState = events;
  }

  #readLastState(): void {
    if (this.#lastState !== undefined) this.#read(this.#lastState);
    this.#lastState = undefined;
  }

  #read(events: Buffer): void {
    for (const { data } of parseSseEvents(events)) {
      // Agents that speak as OpenAI do end with a word.
      if (!/^[ \t\r\n]*\{/.test(data)) continue;
      try {
        this.#told.add(readAgentReply(readJsonText(data, jsonBounds.reply)));
      } catch {
        // Not ours to judge: it passes as it came, and tells nothing.
      }
    }
  }
}
