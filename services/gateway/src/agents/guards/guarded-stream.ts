import type { GatewayError } from '@sluice/errors';
import { type SpeechFormat, speechFormat } from '@sluice/providers';
import type { VisitHooks } from '../../compiled/enforced-guardrails.ts';
import type { ReplySink, StreamReply } from '../../exchange/reply.ts';
import { eventDenial } from '../../guardrails/event-denial.ts';
import type { HookRun } from '../../guardrails/hook-results.ts';
import type { StreamChecks } from '../../guardrails/stream/stream-checks.ts';
import { StreamGate } from '../../guardrails/stream/stream-gate.ts';
import type { StreamEnd } from '../agent-stream.ts';
import { a2aSpeech } from './a2a-speech.ts';
import { type AgentGuard, denial, unfit } from './agent-guard.ts';
import { SpeechTap } from './speech-tap.ts';

/** What looks at a streamed answer, and when. */
export interface StreamWatch {
  readonly format: SpeechFormat;
  /** Before it is given; undefined = nothing does. */
  readonly held: StreamChecks | undefined;
  /** When it is over; undefined = nothing does. */
  readonly ended: VisitHooks | undefined;
}

/** Undefined where nobody can look at a stream of this agent: it is none of words that are known, or would be heard too late. */
export function streamWatch(guard: AgentGuard, remainder: string): StreamWatch | undefined {
  const { guardrails, hooks, protocol } = guard;
  const held = guardrails.streamChecks(hooks, { endpoint: 'proxy' });
  const ended = held === undefined ? hooks : held.ended;
  if (protocol === 'a2a') return { format: a2aSpeech, held, ended };
  const format = protocol === 'openai' ? openAiFormat(remainder) : undefined;
  // As of what passes through: held, or refused.
  const isLate = ended?.enforced?.afterRequest.some(({ async }) => !async) === true;
  return format === undefined || held === undefined || isLate
    ? undefined
    : { format, held, ended: undefined };
}

function openAiFormat(remainder: string): SpeechFormat | undefined {
  if (/\/chat\/completions\/?$/.test(remainder)) return speechFormat('openai-chat');
  if (/\/completions\/?$/.test(remainder)) return speechFormat('openai-completions');
  return /\/responses\/?$/.test(remainder) ? speechFormat('openai-responses') : undefined;
}

export interface GuardedStreamOptions {
  readonly guard: AgentGuard;
  readonly watch: StreamWatch;
  /** The stream's own event for an error. */
  readonly errorEvent: (error: GatewayError) => Buffer;
  /** The agent is listened to no more. */
  readonly abort: (error: GatewayError) => void;
  readonly isGone: () => boolean;
  /** Once, before the end is sent; how the agent's own stream ended, undefined = it did not. */
  readonly onEnd: (end: StreamEnd | undefined, denied: GatewayError | undefined) => Promise<void>;
}

/**
 * A stream that its checks look at on its way.
 * @param open the stream as it comes, given who hears how the agent ended it
 */
export function guardedStream(
  open: (onEnd: (end: StreamEnd) => Promise<void>) => StreamReply,
  options: GuardedStreamOptions,
): StreamReply {
  const { guard, watch, errorEvent, abort, isGone, onEnd } = options;
  const { guardrails } = guard;
  let ended: StreamEnd | undefined;
  let denied: GatewayError | undefined;
  let isOver = false;
  const over = async () => {
    if (isOver) return;
    isOver = true;
    await onEnd(ended, denied);
  };
  const stream = open((end) => {
    ended = end;
    return Promise.resolve();
  });
  const hear = (run: Pick<HookRun, 'results'>) => {
    guard.note('after', run);
    guardrails.tellOf(guard.subject(), run.results);
  };
  const refuse = (error: GatewayError): Buffer => {
    denied = error;
    abort(error);
    return errorEvent(error);
  };
  const guardedSink = (sink: ReplySink): ReplySink => {
    const last: ReplySink = {
      write: (chunk) => sink.write(chunk),
      onDrain: (listener) => sink.onDrain(listener),
      end: () => void over().finally(() => sink.end()),
      cut: (code) => {
        void over();
        sink.cut(code);
      },
    };
    const tapped = watch.ended === undefined ? last : tap(last, watch.ended);
    return watch.held === undefined ? tapped : gate(tapped, watch.held);
  };
  const tap = (sink: ReplySink, hooks: VisitHooks) =>
    new SpeechTap(sink, {
      format: watch.format,
      isOver: () => denied !== undefined || isGone(),
      async judge(response, unreadable) {
        const subject = { ...guard.subject(), unreadable, response, status: 200 };
        const run = await guardrails.after(hooks, subject);
        if (run === undefined) return undefined;
        guard.note('after', run);
        return run.denied ? refuse(denial('answer of', run)) : undefined;
      },
    });
  const gate = (sink: ReplySink, checks: StreamChecks) => {
    const { parts, whole } = checks;
    let results: Pick<HookRun, 'results'> = { results: [] };
    return new StreamGate(sink, {
      checks,
      format: watch.format,
      judgePart: (response, withinMs) => guard.look(parts, response, withinMs),
      judgeWhole: whole === undefined ? undefined : (response) => guard.look(whole, response),
      onResults: (run) => {
        results = run;
        hear(run);
        return undefined;
      },
      conclude: (error) => {
        // Who has left is sent no end.
        if (error === undefined && isGone()) void over();
        if (error === undefined) return nothing;
        if (error.code !== 'guardrail.denied') return refuse(error);
        const isOfCheck = eventDenial(results).slugs.length > 0;
        return refuse(isOfCheck ? denial('answer of', results) : unfit('answer of'));
      },
      isGone,
      now: () => Math.round(performance.now()),
    });
  };
  return {
    ...stream,
    pipeTo: (sink) => stream.pipeTo(guardedSink(sink)),
    discard() {
      stream.discard();
      void over();
    },
  };
}

const nothing = Buffer.alloc(0);
