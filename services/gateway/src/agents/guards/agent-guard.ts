import type { AgentRequest } from '@sluice/a2a';
import type { JsonObject } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { JsonEdit, jsonBounds } from '@sluice/json';
import type { VisitHooks } from '../../compiled/enforced-guardrails.ts';
import { changedValues } from '../../guardrails/changed-values.ts';
import { eventDenial, eventVerdicts, toldHooks } from '../../guardrails/event-denial.ts';
import type { Guardrails } from '../../guardrails/guardrails.ts';
import type { HookSubject } from '../../guardrails/hook-context.ts';
import type { HookRun } from '../../guardrails/hook-results.ts';
import { type PassedBody, type PassedRequest, passedBody } from '../../guardrails/passed-body.ts';
import { inTurn, largeBytes } from '../../http/large-work.ts';
import type { AgentProtocol } from '../agent-plan.ts';
import type { AgentExchange } from '../find-agent.ts';
import { isDrawn, isNaming, isPlainName, saysSomething, withoutNames } from './hidden-names.ts';

/** The checks of one request to an agent and of its answer. */
export class AgentGuard {
  readonly protocol: AgentProtocol;
  readonly guardrails: Guardrails;
  readonly hooks: VisitHooks;
  /** Of the checks that ran, for the record: each a `HookVerdict` as JSON. */
  readonly verdicts: string[] = [];
  readonly #exchange: AgentExchange;
  #request: JsonObject = {};

  constructor(
    guardrails: Guardrails,
    hooks: VisitHooks,
    exchange: AgentExchange,
    protocol: AgentProtocol,
  ) {
    this.guardrails = guardrails;
    this.hooks = hooks;
    this.protocol = protocol;
    this.#exchange = exchange;
  }

  /** Something looks at the body of the request. */
  get readsRequest(): boolean {
    return (this.hooks.enforced?.beforeRequest.length ?? 0) > 0;
  }

  /** Something looks at the answer. */
  get readsAnswer(): boolean {
    return (this.hooks.enforced?.afterRequest.length ?? 0) > 0;
  }

  /**
   * The body as it may be sent: the same, or one with other texts.
   * @param body undefined = there is none
   * @param asked what it says in A2A; undefined = it is something else
   * @throws GatewayError `guardrail.denied`
   */
  async before(
    body: Buffer | undefined,
    asked: AgentRequest | undefined,
  ): Promise<Buffer | undefined> {
    if (!this.readsRequest) return body;
    const { arrival, subject } = this.#exchange;
    const { headers } = arrival;
    const address = [subject.remainder, arrival.search];
    const {
      document: given,
      unreadable,
      kind,
    } = await this.#read({
      body,
      isUnread: false,
      address,
      headers,
      isReadWhole: true,
    });
    const document = asked === undefined ? given : saidBy(given, asked);
    this.#request = document;
    // Who only names a task says nothing.
    if (unreadable === undefined && !saysSomething(document)) return body;
    const run = await this.guardrails.before(this.hooks, {
      ...this.subject(body?.length ?? 0),
      unreadable,
    });
    if (run === undefined) return body;
    this.note('before', run);
    if (run.denied) throw denial('message to', run);
    const { request: after } = run;
    if (after === undefined) return body;
    this.#request = after;
    if (body === undefined || kind === 'other') throw unfit('message to');
    return this.#edited(kind, body, document, after, 'message to');
  }

  /**
   * The body of an answer as it may be told.
   * @param bytes undefined = nobody could read it
   * @throws GatewayError `guardrail.denied`
   */
  async after(bytes: Buffer, type: string | undefined): Promise<Buffer>;
  async after(bytes: undefined, type: string | undefined): Promise<undefined>;
  async after(bytes: Buffer | undefined, type: string | undefined): Promise<Buffer | undefined> {
    if (!this.readsAnswer || bytes?.length === 0) return bytes;
    const {
      document: given,
      unreadable,
      kind,
    } = await this.#read({
      body: bytes,
      isUnread: bytes === undefined,
      address: [],
      headers: { 'content-type': type },
      bounds: jsonBounds.reply,
      isReadWhole: true,
    });
    const document = this.#isA2a ? withoutNames(given, isPlainName) : given;
    const run = await this.#judged(document, unreadable, bytes?.length ?? 0);
    const { response } = run ?? {};
    if (response === undefined || bytes === undefined) return bytes;
    if (kind !== 'other') return this.#edited(kind, bytes, document, response, 'answer of');
    const { text } = response;
    if (typeof document.text !== 'string' || typeof text !== 'string') throw unfit('answer of');
    return Buffer.from(text);
  }

  #read(passed: PassedRequest): PassedBody | Promise<PassedBody> {
    const owner = this.#exchange.bundle?.source.workspaceId ?? '';
    return inTurn(owner, passed.body?.length ?? 0, () => passedBody(passed));
  }

  async #judged(
    response: JsonObject,
    unreadable: string | undefined,
    bytes: number,
  ): Promise<HookRun | undefined> {
    const subject = { ...this.subject(bytes), unreadable, response, status: 200 };
    const run = await this.guardrails.after(this.hooks, subject);
    if (run === undefined) return undefined;
    this.note('after', run);
    if (run.denied) throw denial('answer of', run);
    return run;
  }

  /** The bytes with what checks changed of what was read of them, and all else as it was. @throws GatewayError */
  #edited(
    kind: PassedBody['kind'],
    bytes: Buffer,
    document: JsonObject,
    changed: JsonObject,
    what: What,
  ): Buffer {
    const edit = new JsonEdit(bytes);
    const from = kind === 'list' ? 1 : 0;
    for (const { path, before, after } of changedValues(document, changed)) {
      const at = path.slice(from);
      // An answer is what its agent declared, but for its words; under another name nobody finds a task.
      const isText = typeof before === 'string' && typeof after === 'string';
      const isUnfit = at.length === 0 || (what === 'answer of' && !isText);
      if (isUnfit || (this.#isA2a && isNaming(at))) throw unfit(what);
      edit.set(at, after === undefined ? undefined : JSON.stringify(after));
    }
    return edit.bytes();
  }

  get #isA2a(): boolean {
    return this.protocol === 'a2a';
  }

  /** What every run of its checks knows. */
  subject(bytes = 0): HookSubject {
    const { arrival, metadata, subject, bundle } = this.#exchange;
    const { workspaceId = '', organisationId = '' } = bundle?.source ?? {};
    return {
      requestId: arrival.requestIdText,
      // Every text counts: nobody knows which of them an agent takes to heart.
      endpoint: 'proxy',
      request: this.#request,
      provider: 'agent',
      metadata,
      headers: arrival.headers,
      traceId: arrival.traceId,
      isStream: subject.wantsStream,
      workspaceId,
      organisationId,
      unreadable: undefined,
      createdAt: new Date().toISOString(),
      signal: arrival.signal,
      holdBytes: arrival.holdBytes,
      ...(bytes >= largeBytes && { largeOwner: workspaceId }),
    };
  }

  /** One look at a streamed answer, or a part of it. */
  look(hooks: VisitHooks, response: JsonObject, partWithinMs?: number): Promise<HookRun> {
    return this.guardrails.look(hooks, {
      ...this.subject(),
      event: 'afterRequest',
      response,
      status: 200,
      ...(partWithinMs === undefined ? {} : { partWithinMs }),
    });
  }

  note(event: 'before' | 'after', run: Pick<HookRun, 'results'>): void {
    this.verdicts.push(...eventVerdicts(event, run));
    const { subject } = this.#exchange;
    subject.hookResults ??= { before_request_hooks: [], after_request_hooks: [] };
    subject.hookResults[`${event}_request_hooks`].push(...toldHooks(run));
  }
}

type What = 'message to' | 'answer of';

/** A guardrail let a message, or its answer, not pass. */
export function denial(what: What, run: Pick<HookRun, 'results'>): GatewayError {
  const { why } = eventDenial(run);
  return new GatewayError('guardrail.denied', { message: `The ${what} the agent was ${why}.` });
}

/** A change that cannot be carried out: nothing of it goes. */
export function unfit(what: What): GatewayError {
  return new GatewayError('guardrail.denied', {
    message: `The ${what} the agent was denied: a guardrail changed more than texts.`,
  });
}

/** What a request of A2A says, without the names that say nothing: those that programs draw, and those of one's own tasks. */
function saidBy(document: JsonObject, asked: AgentRequest): JsonObject {
  const { taskIds, form, kind } = asked;
  const said = withoutNames(document, (name) => isDrawn(name) || taskIds.has(name));
  if (form !== 'json-rpc') return said;
  // A method that nobody knows may be anything.
  return kind === undefined ? said : { ...said, method: null };
}
