import type { JsonObject, JsonValue } from '@sluice/contracts';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  isObject,
  type McpRequest,
  MessageEdit,
  messageBounds,
  readMessage,
} from '@sluice/mcp';
import type { VisitHooks } from '../../compiled/enforced-guardrails.ts';
import { changedValues } from '../../guardrails/changed-values.ts';
import { eventDenial, eventVerdicts } from '../../guardrails/event-denial.ts';
import type { Guardrails } from '../../guardrails/guardrails.ts';
import type { HookSubject } from '../../guardrails/hook-context.ts';
import type { HookRun } from '../../guardrails/hook-results.ts';
import { largeBytes } from '../../http/large-work.ts';
import { repeatedMember } from '../../http/repeated-members.ts';
import type { McpCall } from '../mcp-call.ts';
import type { ServerReply } from '../server-reply.ts';
import { boundedResult } from './bounded-result.ts';
import { ToolDenial } from './tool-denial.ts';

/** Hears what the checks of a call came to. */
export interface VerdictListener {
  /** @param verdicts each a `HookVerdict` as JSON */
  checked(verdicts: readonly string[]): void;
}

export interface GuardInit {
  readonly call: McpCall;
  readonly hooks: VisitHooks | undefined;
  readonly bytesMax: number | undefined;
  readonly isModern: boolean;
  /** A denial is a result that says so; otherwise it is an error. */
  readonly deniesByResult: boolean;
  readonly method: string;
  readonly idText: string;
  readonly tool: string;
  readonly arguments: JsonValue;
}

/** What a tool says in its answer. */
const saidIn = ['content', 'structuredContent', 'toolResult', 'result', 'error', 'statusMessage'];

/** The checks of one call of a tool, before it and after it. */
export class ToolGuard {
  readonly #guardrails: Guardrails;
  readonly #init: GuardInit;
  /** Texts that others stand in the place of. */
  readonly #replaced = new Map<string, string>();

  constructor(guardrails: Guardrails, init: GuardInit) {
    this.#guardrails = guardrails;
    this.#init = init;
  }

  /** The request as it may be sent: the same, or another with other texts. @throws ToolDenial */
  async before(asked: McpRequest, listener: VerdictListener): Promise<McpRequest> {
    const { hooks, method } = this.#init;
    if (method !== 'tools/call' || (hooks?.enforced?.beforeRequest.length ?? 0) === 0) return asked;
    const document = this.#document();
    const run = await this.#guardrails.before(hooks, {
      ...this.#subject(document, asked.bytes.length),
      unreadable:
        repeatedMember(asked.bytes) === undefined
          ? undefined
          : 'The message has several members of one name.',
    });
    if (run === undefined) return asked;
    tell('before', run, listener);
    if (run.denied) throw this.#denial(run, undefined);
    const after = run.request?.arguments;
    if (after === undefined || !isObject(document.arguments)) return asked;
    if (!isObject(after)) throw this.#unfit(undefined);
    const changes = changedValues(document.arguments, after);
    if (changes.length === 0) return asked;
    const edit = new MessageEdit(asked);
    for (const { path, before: was, after: is } of changes) {
      if (path.length === 0) throw this.#unfit(undefined);
      edit.setAt(
        ['params', 'arguments', ...path],
        is === undefined ? undefined : JSON.stringify(is),
      );
      if (isScalar(was) && isScalar(is)) this.#replaced.set(String(was), String(is));
    }
    return readMessage(edit.bytes()) as McpRequest;
  }

  /** A header in which an argument stands as well, as it may be sent. */
  header(value: string): string {
    if (this.#replaced.size === 0) return value;
    const other = this.#replaced.get(decodeHeaderValue(value) ?? value);
    return other === undefined ? value : encodeHeaderValue(other);
  }

  /** The answer as it may be told: the same, or one with other texts. @throws ToolDenial */
  async after(reply: ServerReply, listener?: VerdictListener): Promise<ServerReply> {
    const judged = await this.#judged(reply, listener);
    const { bytesMax } = this.#init;
    return bytesMax === undefined ? judged : boundedResult(judged, bytesMax);
  }

  async #judged(reply: ServerReply, listener?: VerdictListener): Promise<ServerReply> {
    const { hooks } = this.#init;
    if ((hooks?.enforced?.afterRequest.length ?? 0) === 0) return reply;
    const [holder, response] = saidBy(reply);
    if (Object.keys(response).length === 0) return reply;
    const run = await this.#guardrails.after(hooks, {
      ...this.#subject(this.#document(), reply.bytes.length),
      response,
      status: 200,
    });
    if (run === undefined) return reply;
    tell('after', run, listener);
    const result = reply.kind === 'error' ? {} : reply.result;
    if (run.denied) throw this.#denial(run, result);
    if (run.response === undefined) return reply;
    const edit = new MessageEdit(reply);
    for (const { path, before, after } of changedValues(response, run.response)) {
      // Anything else would not be what the tool declared.
      if (typeof before !== 'string' || typeof after !== 'string') throw this.#unfit(result);
      edit.setAt([holder, ...path], JSON.stringify(after));
    }
    return readMessage(edit.bytes(), messageBounds.upstream) as ServerReply;
  }

  #document(): JsonObject {
    const { tool, arguments: args } = this.#init;
    return { tool, arguments: args };
  }

  #subject(request: JsonObject, bytes: number): HookSubject {
    const { call } = this.#init;
    const { exchange, bundle } = call;
    const { arrival, metadata } = exchange;
    return {
      requestId: arrival.requestIdText,
      // Every text counts: nobody knows which of them a tool takes to heart.
      endpoint: 'proxy',
      request,
      provider: 'mcp',
      metadata,
      headers: arrival.headers,
      traceId: arrival.traceId,
      isStream: false,
      workspaceId: bundle.source.workspaceId,
      organisationId: bundle.source.organisationId,
      unreadable: undefined,
      createdAt: new Date().toISOString(),
      signal: call.signal,
      holdBytes: arrival.holdBytes,
      ...(bytes >= largeBytes && { largeOwner: bundle.source.workspaceId }),
    };
  }

  #denial(run: HookRun, result: JsonObject | undefined): ToolDenial {
    const { why, slugs } = eventDenial(run);
    return this.#refused(why, slugs, result);
  }

  /** A change that cannot be carried out: nothing of it goes. */
  #unfit(result: JsonObject | undefined): ToolDenial {
    return this.#refused('denied: a guardrail changed more than texts', [], result);
  }

  #refused(why: string, slugs: readonly string[], result: JsonObject | undefined): ToolDenial {
    const { idText, isModern, deniesByResult, tool } = this.#init;
    const of = tool === '' ? 'this tool' : `'${tool}'`;
    const what = result === undefined ? `The call of ${of}` : `The result of ${of}`;
    const message = `${what} was ${why}.`;
    return new ToolDenial({ idText, message, slugs, isResult: deniesByResult, isModern, result });
  }
}

function saidBy(reply: ServerReply): ['result' | 'error', JsonObject] {
  if (reply.kind === 'error') {
    const { message, data } = reply.error;
    return ['error', { message, ...(data === undefined ? {} : { data }) }];
  }
  const { result } = reply;
  return [
    'result',
    Object.fromEntries(saidIn.flatMap((name) => (name in result ? [[name, result[name]]] : []))),
  ] as ['result', JsonObject];
}

function isScalar(value: JsonValue | undefined): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function tell(
  event: 'before' | 'after',
  run: HookRun,
  listener: VerdictListener | undefined,
): void {
  const verdicts = eventVerdicts(event, run);
  if (verdicts.length > 0) listener?.checked(verdicts);
}
