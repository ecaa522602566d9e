import type { TargetHooks } from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { Logger } from '@sluice/telemetry';
import type { CacheFill } from '../cache/reply-cache.ts';
import type { BodyReply, StreamReply } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { Visit } from '../exchange/visit.ts';
import {
  deniedReply,
  hookResultsItem,
  statusWithHooks,
  withHookResults,
} from '../guardrails/guardrail-replies.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { HookSubject } from '../guardrails/hook-context.ts';
import { type HookRun, hasRun } from '../guardrails/hook-results.ts';
import { withHookItems } from '../guardrails/hook-stream.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { largeBytes } from '../http/large-work.ts';

/** The hooks of one target around one request, and what they change of the answer. */
export class TargetChecks {
  private readonly visit: Visit;
  private readonly target: Target;
  private readonly request: JsonObject;
  private readonly guardrails: Guardrails;
  private readonly logger: Logger;
  private beforeRun: HookRun | undefined;
  private isLarge: boolean;

  constructor(
    visit: Visit,
    target: Target,
    request: JsonObject,
    deps: { guardrails: Guardrails; logger: Logger },
  ) {
    this.visit = visit;
    this.target = target;
    this.request = request;
    this.guardrails = deps.guardrails;
    this.logger = deps.logger;
    this.isLarge = (visit.exchange.subject.body?.length ?? 0) >= largeBytes;
  }

  before(): Promise<HookRun> | undefined {
    const { hooks } = this.target.planned;
    if (hooks === undefined) return undefined;
    return this.guardrails.before(hooks, this.subject())?.then((run) => {
      this.beforeRun = run;
      this.note('before', run);
      return run;
    });
  }

  /** Whether an answer waits for checks, which may change or refuse it. */
  get checksOutput(): boolean {
    return this.target.planned.hooks?.afterRequest.some(({ async }) => !async) === true;
  }

  /** Looks at each complete 200: checks it, decorates it, and gives the cache what passed. */
  inspector(
    fill: CacheFill | undefined,
  ): ((body: Buffer) => Promise<BodyReply | undefined>) | undefined {
    if (this.target.planned.hooks === undefined && fill === undefined) return undefined;
    return async (body) => {
      const { hooks } = this.target.planned;
      if (body.length >= largeBytes) this.isLarge = true;
      const response = hooks === undefined ? undefined : jsonObjectIn(body);
      if (response === undefined) {
        // What no check could read is passed on, and not kept as if one had.
        if (!this.checksOutput) fill?.keepBody(body, 'application/json');
        return undefined;
      }
      const run = await this.guardrails.after(hooks, { ...this.subject(), response, status: 200 });
      const before = this.beforeRun?.results ?? [];
      const after = run?.results ?? [];
      if (run?.denied === true)
        return deniedReply(
          this.visit.exchange.subject.operation.id,
          this.visit.exchange.arrival.requestIdText,
          before,
          after,
        );
      const passed = run?.response ?? response;
      const bytes = passed === response ? body : Buffer.from(JSON.stringify(passed));
      if (run?.failed !== true) fill?.keepBody(bytes, 'application/json');
      const told = withHookResults(passed, before, after);
      const failed = run?.failed === true || this.beforeRun?.failed === true;
      return {
        kind: 'body',
        status: statusWithHooks(200, failed),
        headers: {},
        body: told === passed ? bytes : Buffer.from(JSON.stringify(told)),
      };
    };
  }

  onKeptBody(reply: BodyReply): BodyReply {
    const run = this.beforeRun;
    const body = run === undefined ? undefined : jsonObjectIn(reply.body);
    if (run === undefined || body === undefined) return reply;
    return {
      ...reply,
      status: statusWithHooks(reply.status, run.failed),
      body: Buffer.from(JSON.stringify(withHookResults(body, run.results, []))),
    };
  }

  /** Results travel in a stream only when the caller does not insist on the standard's items. */
  onStream(reply: StreamReply, checksOutput = true): StreamReply {
    const { hooks } = this.target.planned;
    if (hooks === undefined) return reply;
    const { id: endpoint } = this.visit.exchange.subject.operation;
    const tells = !this.target.strictOpenAiCompliance;
    const run = this.beforeRun;
    const status = statusWithHooks(reply.status, run?.failed === true);
    const first =
      tells && run !== undefined
        ? hookResultsItem(endpoint, 'before_request_hooks', run.results)
        : undefined;
    const onEnd =
      checksOutput && hooks.afterRequest.length > 0
        ? (_text: string, _wasWhole: boolean, response: JsonObject) => {
            const running = this.after(hooks, response, reply.status);
            // Without an item to wait for, the stream ends when the provider's does.
            return tells
              ? running?.then(({ results }) =>
                  hookResultsItem(endpoint, 'after_request_hooks', results),
                )
              : undefined;
          }
        : undefined;
    if (first === undefined && onEnd === undefined) return { ...reply, status };
    return {
      ...withHookItems(reply, { first, onEnd, endpoint, collectBytesMax, logger: this.logger }),
      status,
    };
  }

  private after(
    hooks: TargetHooks | undefined,
    response: JsonObject,
    status: number,
  ): Promise<HookRun> | undefined {
    const subject = { ...this.subject(), request: this.beforeRun?.request ?? this.request };
    return this.guardrails.after(hooks, { ...subject, response, status })?.then((run) => {
      this.note('after', run);
      return run;
    });
  }

  /** For the record, and for the log, which alone hears of checks that end after a stream did. */
  private note(event: 'before' | 'after', { results }: HookRun): void {
    const ran = results
      .filter(hasRun)
      .map(({ id, verdict, deny }) => ({ id, event, verdict, deny }));
    if (ran.length === 0) return;
    this.visit.hookVerdicts = [...this.visit.hookVerdicts, ...ran];
    this.logger.info(
      {
        request_id: this.visit.exchange.arrival.requestIdText,
        hook_event: event,
        hook_verdicts: ran,
      },
      'the checks of a target ran',
    );
  }

  private subject(): HookSubject {
    const { target } = this;
    const { exchange } = this.visit;
    return {
      requestId: exchange.arrival.requestIdText,
      endpoint: exchange.subject.operation.id,
      request: this.request,
      provider: target.entry.id,
      metadata: exchange.metadata,
      headers: exchange.arrival.headers,
      nowMs: Date.now(),
      signal: exchange.arrival.signal,
      largeOwner: this.isLarge ? (exchange.bundle?.source.workspaceId ?? '') : undefined,
    };
  }
}

const collectBytesMax = 1024 * 1024;
