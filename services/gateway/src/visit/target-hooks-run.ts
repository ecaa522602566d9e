import { isUtf8 } from 'node:buffer';
import type { Hook } from '@sluice/engine';
import { Identifiers } from '@sluice/guardrails';
import {
  type JsonObject,
  type SpeechFormat,
  speechFormat,
  type Translation,
  type WireFormat,
} from '@sluice/providers';
import type { Logger, RequestLog } from '@sluice/telemetry';
import type { VisitHooks } from '../compiled/enforced-guardrails.ts';
import type { Visit } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { BodyReply, Reply, StreamReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { HookVerdict } from '../exchange/visit.ts';
import {
  deniedReply,
  hookResultsItem,
  statusWithHooks,
  withHookResults,
} from '../guardrails/guardrail-replies.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { HookSubject } from '../guardrails/hook-context.ts';
import { type HookResult, type HookRun, hasRun } from '../guardrails/hook-results.ts';
import { withHookItems } from '../guardrails/hook-stream.ts';
import { hookVerdict } from '../guardrails/hook-verdict.ts';
import { restoredBody, restoredStream } from '../guardrails/restored-reply.ts';
import type { StreamChecks } from '../guardrails/stream/stream-checks.ts';
import { type GateParts, StreamGate } from '../guardrails/stream/stream-gate.ts';
import { isCallerGone } from '../http/caller-gone.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { largeBytes } from '../http/large-work.ts';
import { askedEndpoint } from '../limits/asked-endpoint.ts';
import type { CheckedRequest } from './checked-request.ts';
import { deniedRequest } from './denied-request.ts';
import type { CheckEmbedder } from './embed-for-checks.ts';

/** The hooks of one target around one request, and what they change of the answer. */
export class TargetHooksRun {
  readonly #visit: Visit;
  readonly #target: Target;
  readonly #hooks: VisitHooks;
  /** As the checks before the call saw it. */
  readonly #asked: CheckedRequest;
  /** An answer waits for checks, which may change or refuse it. */
  readonly checksOutput: boolean;
  readonly #guardrails: Guardrails;
  readonly #logger: Logger;
  readonly #requestLog: RequestLog | undefined;
  readonly #onLateHook: LateHookListener;
  readonly #checkEmbedder: CheckEmbedder;
  readonly #identifiers = new Identifiers();
  readonly #identifiersOfAnswer = new Identifiers(this.#identifiers);
  #beforeRun: HookRun | undefined;
  #isLarge: boolean;

  constructor(
    visit: Visit,
    target: Target,
    hooks: VisitHooks,
    asked: CheckedRequest,
    parts: TargetHooksParts,
  ) {
    this.#visit = visit;
    this.#target = target;
    this.#hooks = hooks;
    this.#asked = asked;
    const { output } = visit.exchange.subject.operation.hooks;
    this.checksOutput =
      (output !== 'none' && hasSync(hooks.own?.afterRequest)) ||
      hasSync(hooks.enforced?.afterRequest);
    this.#guardrails = parts.guardrails;
    this.#logger = parts.logger;
    this.#requestLog = parts.requestLog;
    this.#onLateHook = parts.onLateHook;
    this.#checkEmbedder = parts.checkEmbedder;
    this.#isLarge = (visit.exchange.subject.body?.length ?? 0) >= largeBytes;
  }

  /** What would run, as far as it is known without asking anybody. */
  judge(): ReturnType<Guardrails['judge']> {
    return this.#guardrails.judge(this.#hooks, {
      ...this.#subject(),
      unreadable: this.#asked.unreadable,
    });
  }

  before(): Promise<HookRun> | undefined {
    return this.#guardrails
      .before(this.#hooks, { ...this.#subject(), unreadable: this.#asked.unreadable })
      ?.then((run) => {
        this.#beforeRun = run;
        this.#note('before', run);
        return run;
      });
  }

  /**
   * Looks at a complete 200: checks it and decorates it. What passed goes to
   * `keep`, without the results; undefined = the answer stays as it came.
   * @param document what the body is as JSON; undefined = it was not read yet
   */
  async inspect(
    body: Buffer | undefined,
    document: JsonObject | undefined,
    keep: ((bytes: Buffer) => void) | undefined,
  ): Promise<BodyReply | undefined> {
    if (body !== undefined && body.length >= largeBytes) this.#isLarge = true;
    const response = body === undefined ? undefined : (document ?? jsonObjectIn(body));
    if (body === undefined || response === undefined) return this.#inspectOther(body, keep);
    const running = hasHooks(this.#hooks)
      ? this.#guardrails.after(this.#hooks, {
          ...this.#subject(),
          identifiers: this.#identifiersOfAnswer,
          response,
          status: 200,
        })
      : undefined;
    // Nothing is waited for where nothing looks.
    const run = running === undefined ? undefined : await running;
    if (run !== undefined) this.#note('after', run);
    const { subject } = this.#visit.exchange;
    const before = this.#beforeRun?.results ?? [];
    const after = run?.results ?? [];
    if (run?.denied === true) return this.#denied(after);
    const passed = run?.response ?? response;
    const bytes = passed === response ? body : Buffer.from(JSON.stringify(passed));
    if (run?.failed !== true) keep?.(bytes);
    // What passes through is the provider's: nobody's client looks for ours in it.
    const told =
      subject.operation.body === 'raw' ? bytes : withHookResults(bytes, passed, before, after);
    const failed = run?.failed === true || this.#beforeRun?.failed === true;
    return {
      kind: 'body',
      status: statusWithHooks(200, failed),
      headers: {},
      body: told,
    };
  }

  /** An answer that is no JSON object. Only what is enforced looks at it: as a text, or as what it cannot read. */
  async #inspectOther(
    body: Buffer | undefined,
    keep: ((bytes: Buffer) => void) | undefined,
  ): Promise<BodyReply | undefined> {
    const { enforced } = this.#hooks;
    if (enforced === undefined || !hasSync(enforced.afterRequest)) {
      // What no check could read is passed on, and not kept as if one had.
      if (body !== undefined && !this.checksOutput) keep?.(body);
      return undefined;
    }
    const text = body === undefined || !isUtf8(body) ? undefined : body.toString('utf8');
    const run = await this.#guardrails.after(
      { own: undefined, enforced },
      {
        ...this.#subject(),
        identifiers: this.#identifiersOfAnswer,
        endpoint: 'proxy',
        response: { text: text ?? '' },
        unreadable: text === undefined ? 'The answer cannot be read.' : undefined,
        status: 200,
      },
    );
    if (run !== undefined) this.#note('after', run);
    if (run?.denied === true) return this.#denied(run.results);
    const changed = run?.response?.text;
    if (body === undefined) return undefined;
    return {
      kind: 'body',
      status: statusWithHooks(200, run?.failed === true || this.#beforeRun?.failed === true),
      headers: {},
      body: typeof changed === 'string' ? Buffer.from(changed) : body,
    };
  }

  #denied(after: HookRun['results']): BodyReply {
    const before = this.#beforeRun?.results ?? [];
    return deniedReply(deniedRequest(this.#visit), before, after);
  }

  /** Kept answers and failures: only what became of the input is told with them. */
  onUncheckedBody(reply: BodyReply): BodyReply {
    const run = this.#beforeRun;
    const body = run === undefined ? undefined : jsonObjectIn(reply.body);
    if (run === undefined || body === undefined) return reply;
    return {
      ...reply,
      status: statusWithHooks(reply.status, run.failed),
      body: withHookResults(reply.body, body, run.results, []),
    };
  }

  /** The request was given identifiers that its answer is to have no more. */
  get restores(): boolean {
    return this.#identifiers.restorable.size > 0;
  }

  /** The answer with what its identifiers stand for. */
  restore(reply: Reply, call: PreparedCall | undefined): Reply {
    const originals = this.#identifiers.restorable;
    if (reply.kind === 'body') return restoredBody(reply, originals);
    const { operation } = this.#visit.exchange.subject;
    const told = operation.body === 'raw' ? formatOfEvents(call?.translation) : operation.format;
    const format = told === undefined ? undefined : speechFormat(told);
    return format === undefined ? reply : restoredStream(reply, format, originals);
  }

  /** Whether a stream of this call is held back until its checks have looked. */
  holdsStream(call: PreparedCall): boolean {
    return this.#heldFormat(call) !== undefined;
  }

  #heldFormat({ translation }: PreparedCall): SpeechFormat | undefined {
    const { operation } = this.#visit.exchange.subject;
    const checks = this.#guardrails.streamChecks(this.#hooks, { endpoint: operation.id });
    if (checks === undefined) return undefined;
    if (operation.hooks.output !== 'none') return speechFormat(operation.format);
    // Of what passes through nothing is heard at its end: it is held whole, or refused.
    if (hasSync(checks.ended?.enforced?.afterRequest) || translation?.mode !== 'native')
      return undefined;
    const format = formatOfEvents(translation);
    return format === undefined ? undefined : speechFormat(format);
  }

  /**
   * Results travel in a stream only when the caller does not insist on the standard's
   * items. `call`: who tells it; undefined = it was kept, and checked before.
   */
  onStream(given: StreamReply, call: PreparedCall | undefined): StreamReply {
    const { id: endpoint, body } = this.#visit.exchange.subject.operation;
    const tells = !this.#target.strictOpenAiCompliance && body !== 'raw';
    const format = call === undefined || given.status !== 200 ? undefined : this.#heldFormat(call);
    const checks =
      format === undefined ? undefined : this.#guardrails.streamChecks(this.#hooks, { endpoint });
    const late = checks === undefined ? this.#hooks : checks.ended;
    const hearsEnd = call !== undefined && late !== undefined && hasHooks(late);
    let held: readonly HookResult[] = [];
    const reply =
      checks === undefined || format === undefined
        ? given
        : this.#held(given, format, checks, (run) => {
            held = run.results;
            if (!tells || (hearsEnd && !run.denied)) return undefined;
            return hookResultsItem(endpoint, 'after_request_hooks', held);
          });
    const run = this.#beforeRun;
    const status = statusWithHooks(reply.status, run?.failed === true);
    const first =
      tells && run !== undefined
        ? hookResultsItem(endpoint, 'before_request_hooks', run.results)
        : undefined;
    const onEnd =
      hearsEnd && late !== undefined
        ? (_text: string, _wasWhole: boolean, response: JsonObject) => {
            const running = this.#after(late, response, reply.status);
            if (!tells) return undefined;
            const told = (results: readonly HookResult[]) =>
              hookResultsItem(endpoint, 'after_request_hooks', [...held, ...results]);
            // Without an item to wait for, the stream ends when the provider's does.
            if (running !== undefined) return running.then(({ results }) => told(results));
            return held.length === 0 ? undefined : Promise.resolve(told([]));
          }
        : undefined;
    if (first === undefined && onEnd === undefined) return { ...reply, status };
    return {
      ...withHookItems(reply, { first, onEnd, endpoint, collectBytesMax, logger: this.#logger }),
      status,
    };
  }

  #held(
    reply: StreamReply,
    format: SpeechFormat,
    checks: StreamChecks,
    onResults: GateParts['onResults'],
  ): StreamReply {
    const { parts, whole } = checks;
    const { 'content-length': _length, ...headers } = reply.headers;
    const subject = this.#answered();
    const look = (hooks: VisitHooks, response: JsonObject, partWithinMs?: number) =>
      this.#guardrails.look(hooks, {
        ...subject,
        event: 'afterRequest',
        response,
        status: 200,
        createdAt: new Date().toISOString(),
        ...(partWithinMs === undefined ? {} : { partWithinMs }),
      });
    return {
      ...reply,
      headers,
      pipeTo: (sink) =>
        reply.pipeTo(
          new StreamGate(sink, {
            checks,
            format,
            judgePart: (response, withinMs) => look(parts, response, withinMs),
            judgeWhole: whole === undefined ? undefined : (response) => look(whole, response),
            onResults: (run) => {
              this.#note('after', run);
              this.#guardrails.tellOf(subject, run.results);
              return onResults(run);
            },
            conclude: (denied) => reply.conclude?.(denied) ?? nothing,
            isGone: () => isCallerGone(this.#visit.exchange.arrival.signal),
            now: () => Math.round(performance.now()),
          }),
        ),
    };
  }

  #answered(): HookSubject {
    const identifiers = this.#identifiersOfAnswer;
    return {
      ...this.#subject(),
      identifiers,
      request: this.#beforeRun?.request ?? this.#asked.document,
    };
  }

  #after(hooks: VisitHooks, response: JsonObject, status: number): Promise<HookRun> | undefined {
    return this.#guardrails.after(hooks, { ...this.#answered(), response, status })?.then((run) => {
      this.#note('after', run);
      return run;
    });
  }

  /** For the record and for the log. */
  #note(event: 'before' | 'after', { results }: Pick<HookRun, 'results'>): void {
    const ran = results.filter(hasRun);
    if (ran.length === 0) return;
    const verdicts = ran.map((result) => JSON.stringify(hookVerdict(event, result)));
    this.#keep(verdicts);
    const { requestIdText } = this.#visit.exchange.arrival;
    this.#requestLog?.addMembers(
      `"request_id":"${requestIdText}","hook_event":"${event}","hook_verdicts":[${verdicts.join()}]`,
      'the checks of a target ran',
    );
  }

  /** The record of the attempt has them, or where it is written already, an entry of their own. */
  #keep(verdicts: readonly string[]): void {
    const visit = this.#visit;
    if (visit.recordedAs !== undefined)
      for (const verdict of verdicts) this.#onLateHook(visit, verdict);
    else visit.hookVerdicts = [...visit.hookVerdicts, ...verdicts];
  }

  readonly #keepAsync: HookSubject['onAsync'] = (event, { hookId, result, lostTo }) => {
    const side = event === 'beforeRequest' ? 'before' : 'after';
    const verdict: HookVerdict =
      result === undefined
        ? { id: hookId, event: side, verdict: null, deny: false }
        : hookVerdict(side, result);
    const told = { ...verdict, async: true, ...(lostTo === undefined ? {} : { lost: lostTo }) };
    this.#keep([JSON.stringify(told)]);
  };

  #subject(): HookSubject {
    const target = this.#target;
    const { exchange } = this.#visit;
    return {
      requestId: exchange.arrival.requestIdText,
      endpoint: exchange.subject.operation.id,
      passesAs: askedEndpoint(exchange),
      request: this.#asked.document,
      provider: target.entry.id,
      metadata: exchange.metadata,
      headers: exchange.arrival.headers,
      traceId: exchange.arrival.traceId,
      isStream: exchange.subject.wantsStream,
      workspaceId: exchange.bundle?.source.workspaceId ?? '',
      organisationId: exchange.bundle?.source.organisationId ?? '',
      unreadable: undefined,
      createdAt: new Date().toISOString(),
      identifiers: this.#identifiers,
      signal: exchange.arrival.signal,
      holdBytes: exchange.arrival.holdBytes,
      onAsync: this.#keepAsync,
      embed: this.#checkEmbedder.for(exchange),
      largeOwner: this.#isLarge ? (exchange.bundle?.source.workspaceId ?? '') : undefined,
    };
  }
}

export interface TargetHooksParts {
  guardrails: Guardrails;
  logger: Logger;
  /** Undefined = no event of a request is logged. */
  requestLog: RequestLog | undefined;
  onLateHook: LateHookListener;
  checkEmbedder: CheckEmbedder;
}

/** Hears of verdicts that no record has room for any more: a `HookVerdict` as JSON. */
export type LateHookListener = (visit: Visit, verdictJson: string) => void;

function hasSync(hooks: readonly Hook[] | undefined): boolean {
  return hooks?.some(({ async }) => !async) === true;
}

function hasHooks({ own, enforced }: VisitHooks): boolean {
  return (own?.afterRequest.length ?? 0) + (enforced?.afterRequest.length ?? 0) > 0;
}

const nothing = Buffer.alloc(0);

const collectBytesMax = 1024 * 1024;

/** The format of what passes through as server-sent events; in frames of a vendor's own nobody hears or changes a word. */
function formatOfEvents(translation: Translation | undefined): WireFormat | undefined {
  const isFramed = translation?.entry.envelope?.openUnframer !== undefined;
  return isFramed || translation?.isToldAlone === true ? undefined : translation?.upstreamFormat;
}
