import type { TargetHooks } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { Identifiers } from '@sluice/guardrails';
import { wordsOfEvent } from '@sluice/providers';
import { hooksOf } from '../compiled/enforced-guardrails.ts';
import { sessionHooks } from '../compiled/session-hooks.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Target } from '../exchange/target.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { HookSubject } from '../guardrails/hook-context.ts';
import { type HookRun, hasRun } from '../guardrails/hook-results.ts';
import { hookVerdict } from '../guardrails/hook-verdict.ts';
import { jsonObjectIn } from '../http/json-body.ts';
import { repeatedMember } from '../http/repeated-members.ts';
import type { CheckEmbedder } from '../visit/embed-for-checks.ts';

export interface SessionGuardParts {
  readonly guardrails: Guardrails;
  readonly checkEmbedder: CheckEmbedder;
}

/** Any of these stands in an event that can say something; sounds, which are base64, have no such thing in them. */
const hints = ['conversation.', 'response.', 'session.', '\\u'];
/** Looks that wait for the next record of the session. */
const looksMax = 100;

/** What guardrails think of what is said in a session: texts of the caller, words of either that the provider tells. */
export class SessionGuards {
  readonly #hooks: TargetHooks;
  readonly #exchange: ModelExchange;
  readonly #target: Target;
  readonly #parts: SessionGuardParts;
  /** Their verdicts, which the records of the session have not told yet. */
  readonly #looks: Promise<readonly string[]>[] = [];
  /** Somebody may refuse what the caller says: it goes on when it is known to pass. */
  readonly holdsCaller: boolean;
  readonly hearsModel: boolean;

  constructor(
    hooks: TargetHooks,
    exchange: ModelExchange,
    target: Target,
    parts: SessionGuardParts,
  ) {
    this.#hooks = hooks;
    this.#exchange = exchange;
    this.#target = target;
    this.#parts = parts;
    this.holdsCaller = hooks.beforeRequest.some(({ deny, async }) => deny && !async);
    this.hearsModel = hooks.afterRequest.length > 0;
  }

  /** Undefined = nobody judges anything. */
  static of(
    exchange: ModelExchange,
    target: Target,
    parts: SessionGuardParts,
  ): SessionGuards | undefined {
    const hooks = hooksOf(target.planned, exchange.bundle?.enforced);
    const said = hooks && sessionHooks(hooks).said;
    return said && new SessionGuards(said, exchange, target, parts);
  }

  get hearsCaller(): boolean {
    return this.#hooks.beforeRequest.length > 0;
  }

  /** What the looks that were begun since the last record come to: each a `HookVerdict` as JSON. Never rejects. */
  async takeVerdicts(): Promise<readonly string[]> {
    return (await Promise.all(this.#looks.splice(0))).flat();
  }

  /** @returns why a frame of the caller's must not go on; undefined at once = it says nothing */
  judgeFrame(frame: Buffer): Promise<GatewayError | undefined> | GatewayError | undefined {
    if (!this.hearsCaller || !hints.some((hint) => frame.includes(hint))) return undefined;
    const event = jsonObjectIn(frame);
    // What one reader finds in it another may not.
    const isUnclear = event === undefined || repeatedMember(frame) !== undefined;
    if (isUnclear)
      return this.holdsCaller ? denied('The event cannot be read for what it says.') : undefined;
    const text = wordsOfEvent(event);
    return text === '' ? undefined : this.judge('caller', text);
  }

  /** @returns why it must not have been said. Never rejects. */
  async judge(by: 'caller' | 'model', text: string): Promise<GatewayError | undefined> {
    const running = this.#run(by, text);
    if (running === undefined) return undefined;
    const event = by === 'caller' ? 'before' : 'after';
    if (this.#looks.length < looksMax)
      this.#looks.push(running.then((run) => verdictsOf(event, run)));
    const { denied: isDenied, request, response } = await running;
    // What it would take out is said already.
    return isDenied || request !== undefined || response !== undefined ? denied() : undefined;
  }

  #run(by: 'caller' | 'model', text: string): Promise<HookRun> | undefined {
    const { guardrails } = this.#parts;
    const visited = { own: this.#hooks, enforced: undefined };
    if (by === 'caller') return guardrails.before(visited, this.#subject(text));
    const message = { role: 'assistant', content: text };
    return guardrails.after(visited, {
      ...this.#subject(''),
      response: { choices: [{ index: 0, message }] },
      status: 200,
    });
  }

  /** As a question of a chat: that is what checks of texts read. */
  #subject(text: string): HookSubject {
    const { arrival, metadata, bundle } = this.#exchange;
    return {
      requestId: arrival.requestIdText,
      endpoint: 'chatComplete',
      request: { model: this.#target.servedModel, messages: [{ role: 'user', content: text }] },
      provider: this.#target.entry.id,
      metadata,
      headers: arrival.headers,
      traceId: arrival.traceId,
      isStream: false,
      workspaceId: bundle?.source.workspaceId ?? '',
      organisationId: bundle?.source.organisationId ?? '',
      unreadable: undefined,
      createdAt: new Date().toISOString(),
      identifiers: new Identifiers(),
      signal: arrival.signal,
      embed: this.#parts.checkEmbedder.for(this.#exchange),
    };
  }
}

function verdictsOf(event: 'before' | 'after', { results }: HookRun): readonly string[] {
  return results.filter(hasRun).map((result) => JSON.stringify(hookVerdict(event, result)));
}

function denied(message = 'A guardrail does not let this be said.'): GatewayError {
  return new GatewayError('guardrail.denied', { message });
}
