import { operations } from '@sluice/contracts';
import type { Hook, TargetHooks } from '@sluice/engine';
import { checkKinds } from '@sluice/guardrails';
import type { JsonObject } from '@sluice/providers';
import type { Logger } from '@sluice/telemetry';
import type { VisitHooks } from '../compiled/enforced-guardrails.ts';
import type { GivenFeedback } from '../exchange/given-feedback.ts';
import type { Asking } from './asking.ts';
import { type AsyncHookReport, BackgroundHooks } from './background-hooks.ts';
import { CheckCompiler } from './check-compiler.ts';
import type { HookContext, HookSubject } from './hook-context.ts';
import { type HookResult, type HookRun, hasRun } from './hook-results.ts';
import { askingNobody, type JudgedHook, judgeHook, listedHook } from './judge-hooks.ts';
import { restingHosts } from './resting-hosts.ts';
import { runAround } from './run-around.ts';
import type { HookTools } from './run-check.ts';
import { isSkipped, runHooks } from './run-hooks.ts';
import { StreamChecksOf } from './stream/stream-checks.ts';
import { UndecidedChecks } from './undecided-checks.ts';

/**
 * Checks of requests and replies, as a config's hooks ask for them. Nothing
 * here knows of routing: a target's hooks and a request go in, verdicts and
 * changed documents come out. Read `run-hooks.ts` for the order of things,
 * `packages/guardrails` for what can be checked, `guardrail-replies.ts` and
 * `hook-stream.ts` for how callers learn of it.
 */
export class Guardrails {
  readonly #tools: HookTools;
  readonly #background: BackgroundHooks;
  readonly #onFeedback: ((feedback: GivenFeedback) => void) | undefined;
  readonly #streamChecks: StreamChecksOf;
  readonly #typeHooks = new WeakMap<TargetHooks, readonly Hook[]>();

  constructor(options: {
    logger: Logger;
    onAsyncResult?: (report: AsyncHookReport) => void;
    /** Hears what hooks think of a trace, those among them that nobody waited for. */
    onFeedback?: ((feedback: GivenFeedback) => void) | undefined;
    /** Hears of each check that could not decide, by the name of its error. */
    onCheckError?: (name: string) => void;
    fetch: Asking['fetch'];
    checkDeadlineMs?: number;
  }) {
    const { logger } = options;
    const compiler = new CheckCompiler(checkKinds, faultLog(logger));
    const { checkDeadlineMs = 5_000 } = options;
    const fetch = restingHosts(options.fetch, () => performance.now(), logger);
    this.#onFeedback = options.onFeedback;
    this.#streamChecks = new StreamChecksOf(compiler);
    const undecided = new UndecidedChecks(logger);
    const onError = options.onCheckError;
    this.#tools = { compiler, checkDeadlineMs, fetch, undecided, onError };
    this.#background = new BackgroundHooks(
      this.#tools,
      { runningMax: 200, hookDeadlineMs: 15_000 },
      (report) => {
        logReport(logger, report);
        const { context } = report;
        if (report.result !== undefined) this.#tell(context, [report.result]);
        try {
          context.onAsync?.(context.event, report);
          options.onAsyncResult?.(report);
        } catch (error) {
          logger.error({ err: error }, 'a listener to async hooks failed');
        }
      },
    );
  }

  /** Undefined when no hook has to be waited for. Never rejects. */
  before(hooks: VisitHooks | undefined, subject: HookSubject): Promise<HookRun> | undefined {
    if (hooks === undefined) return undefined;
    const context = { ...subject, event: 'beforeRequest', response: undefined, status: 0 } as const;
    return this.#run(
      this.#ownBefore(hooks, subject),
      hooks.enforced?.beforeRequest ?? none,
      context,
    );
  }

  /** As `before`. Of a reply that is not a plain 200, all results are `skipped`. */
  after(
    hooks: VisitHooks | undefined,
    subject: HookSubject & Pick<HookContext, 'response' | 'status'>,
  ): Promise<HookRun> | undefined {
    if (hooks === undefined) return undefined;
    const { output } = operations[subject.endpoint].hooks;
    const own = output === 'none' ? none : (hooks.own?.afterRequest ?? none);
    return this.#run(own, hooks.enforced?.afterRequest ?? none, {
      ...subject,
      event: 'afterRequest',
    });
  }

  /** What looks at a streamed answer before it is given; undefined = nothing does. */
  streamChecks(hooks: VisitHooks, subject: Pick<HookSubject, 'endpoint'>) {
    return this.#streamChecks.get(hooks, subject);
  }

  /** One look at a streamed answer, or a part of it: as `after`, and nobody hears of it but who asked. Never rejects. */
  look(hooks: VisitHooks, context: HookContext): Promise<HookRun> {
    return runAround(
      hooks.own?.afterRequest ?? none,
      hooks.enforced?.afterRequest ?? none,
      context,
      {
        run: (list, on) => runHooks(list, on, this.#tools),
        runAgain: (list, on) => runHooks(list, on, this.#tools),
      },
    );
  }

  /** What all looks at a stream came to. */
  tellOf(context: HookSubject, results: readonly HookResult[]): void {
    this.#tell(context, results);
  }

  /**
   * In the order in which they would run, and what those that ask nobody would make of
   * the request, undefined = nothing; nothing is asked, told or remembered.
   */
  async judge(
    hooks: VisitHooks,
    subject: HookSubject,
  ): Promise<{ input: JudgedHook[]; output: JudgedHook[]; request: JsonObject | undefined }> {
    const context = { ...subject, event: 'beforeRequest', response: undefined, status: 0 } as const;
    const { enforced } = hooks;
    const before = enforced?.beforeRequest ?? none;
    const own = this.#ownBefore(hooks, subject);
    const run = (list: readonly Hook[], on: HookContext) =>
      runHooks(askingNobody(list, this.#tools), on, this.#tools);
    const { request } = await runAround(own, before, context, { run, runAgain: run });
    const input: JudgedHook[] = [];
    for (const hook of [...before, ...own])
      input.push(
        isSkipped(hook, context) ? listedHook(hook) : await judgeHook(hook, context, this.#tools),
      );
    const { hooks: kinds } = operations[subject.endpoint];
    const ownAfter = kinds.output === 'none' ? none : (hooks.own?.afterRequest ?? none);
    const output = [...(enforced?.afterRequest ?? none), ...ownAfter].map(listedHook);
    return { input, output, request };
  }

  #ownBefore({ own }: VisitHooks, { endpoint }: HookSubject): readonly Hook[] {
    const { input } = operations[endpoint].hooks;
    if (own === undefined || input === 'none') return none;
    return input === 'type' ? this.#hooksOfType(own) : own.beforeRequest;
  }

  #run(
    own: readonly Hook[],
    enforced: readonly Hook[],
    context: HookContext,
  ): Promise<HookRun> | undefined {
    const running =
      enforced.length === 0
        ? this.#runList(own, context)
        : runAround(own, enforced, context, {
            run: (hooks, on) => this.#runList(hooks, on),
            runAgain: (hooks, on) => runHooks(hooks, on, this.#tools),
          });
    return running?.then((run) => {
      this.#tell(context, run.results);
      return run;
    });
  }

  #tell(
    { organisationId, workspaceId, traceId }: HookSubject,
    results: readonly HookResult[],
  ): void {
    for (const result of results)
      if (hasRun(result) && result.feedback !== null)
        this.#onFeedback?.({ organisationId, workspaceId, traceId, ...result.feedback });
  }

  #runList(hooks: readonly Hook[], context: HookContext): Promise<HookRun> | undefined {
    let isWaitedFor = false;
    for (const hook of hooks) {
      if (!hook.async || isSkipped(hook, context)) isWaitedFor = true;
      else this.#background.start(hook, context);
    }
    return isWaitedFor ? runHooks(hooks, context, this.#tools) : undefined;
  }

  /** Those that judge by the operation alone, where nothing else can be looked at. */
  #hooksOfType(hooks: TargetHooks): readonly Hook[] {
    const known = this.#typeHooks.get(hooks);
    if (known !== undefined) return known;
    const kept = hooks.beforeRequest.flatMap((hook) => {
      const checks = hook.checks.filter(({ id }) => checkKinds.get(id)?.judges === 'type');
      return checks.length > 0 && hook.type === 'guardrail' ? [{ ...hook, checks }] : [];
    });
    this.#typeHooks.set(hooks, kept);
    return kept;
  }
}

const none: readonly Hook[] = [];

/** Such a check passes whatever it should refuse: somebody has to know, but need not for every request. */
function faultLog(logger: Logger): (checkId: string, error: Error) => void {
  const told = new Set<string>();
  return (checkId, { message }) => {
    const fault = `${checkId.slice(0, 120)} ${message}`;
    if (told.size >= toldMax || told.has(fault)) return;
    told.add(fault);
    logger.warn({ check_id: checkId, error: message }, 'a guardrail check cannot run');
  };
}

/** Callers can write checks into their requests: they must not fill the log, nor the memory. */
const toldMax = 500;

function logReport(logger: Logger, { context, hookId, result, lostTo }: AsyncHookReport) {
  const { requestId, event } = context;
  const fields = { request_id: requestId, hook_event: event, hook_id: hookId };
  if (lostTo !== undefined) logger.warn({ ...fields, lost_to: lostTo }, 'an async hook was lost');
  else logger.info({ ...fields, verdict: result?.verdict }, 'an async hook ran');
}
