import type { JsonObject } from '@sluice/contracts';
import { type FailureCause, failureCauses, fromUnknown } from '@sluice/errors';
import { McpFault, type McpRequest, rpcCodes } from '@sluice/mcp';
import { type AskedEvent, mcpEvent } from '../exchange/event.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ToolCall } from '../exchange/subject.ts';
import { limitHeaders } from '../limits/refusal.ts';
import type { CallEnd, CallMeter, MeteredCall } from '../metering/call-meter.ts';
import type { Refusal } from '../usage/record-event.ts';
import { ToolDenial } from './guards/tool-denial.ts';
import type { McpCall } from './mcp-call.ts';

/** What comes of one event, told once. */
export interface RecordedEvent {
  /**
   * To be awaited before anything is sent: its limits are asked, and it is noted.
   * @throws GatewayError of a limit, `gateway.ledger_full`
   */
  start(): Promise<void>;
  /** @param reply the whole message, which content keeps */
  succeeded(result: JsonObject, reply?: Buffer): void;
  /** The server refused, in JSON-RPC's words. */
  failed(code: number, reply?: Buffer): void;
  /** Its stream ended before the answer, which may be asked for again. */
  interrupted(): void;
  /** @param verdicts of its checks, each a `HookVerdict` as JSON: they stand in its record */
  checked(verdicts: readonly string[]): void;
  /** @returns what was thrown */
  thrown(error: unknown): unknown;
}

interface Within {
  /** A session's, which opens nothing. */
  readonly name?: string;
  readonly revision: string;
}

/** Leaves one record for each request to a server, whatever comes of it, and asks its limits. */
export class EventRecorder {
  readonly #meter: CallMeter;

  constructor(meter: CallMeter) {
    this.#meter = meter;
  }

  /** Who is let in nowhere, before a message is passed on: its one record. */
  refuse(
    exchange: Exchange & { subject: ToolCall },
    asked: AskedEvent,
    error: Refusal,
  ): Promise<void> {
    const event = mcpEvent(asked);
    exchange.subject.event = event;
    return this.#meter.refuse(exchange, event, error, { transportClient: 'http' });
  }

  /** @param within the session, or of those without any the revision that is spoken; undefined = a session begins with this */
  begin(call: McpCall, asked: McpRequest, within?: Within): RecordedEvent {
    const { exchange, server, key } = call;
    const { method, subject = '', idText } = asked;
    const event = mcpEvent({
      server: server.source,
      mergedSlug: call.via?.slug,
      method,
      rpcId: idText,
      capability: subject,
      calledAs: call.via?.calledAs,
    });
    exchange.subject.event = event;
    const way = {
      authType: 'validUntilMs' in key ? 'jwt' : 'api_key',
      transportClient: 'http',
    };
    const { transport } = server.source;
    let started: Promise<MeteredCall> | undefined;
    let isTold = false;
    let hookVerdicts: readonly string[] = [];
    const start = () => {
      started ??= this.#meter.begin(exchange, {
        ...way,
        event,
        policy: server.policy,
        request: asked.bytes,
        arguments: asked.params?.arguments,
      });
      return started;
    };
    const tell = (end: CallEnd) => {
      if (isTold) return;
      isTold = true;
      // What could not be begun is recorded as that.
      start().then(
        (metered) => void metered.end(whole(end, within, transport, hookVerdicts)),
        () => {},
      );
    };
    return {
      async start() {
        const { states } = await start();
        if (states.length > 0) call.reply.add(limitHeaders(states, Date.now()));
      },
      succeeded(result, reply) {
        // The server did what it was asked; whether the tool did is another question.
        const toolFailed = result.isError === true;
        const { protocolVersion } = result;
        tell({
          outcome: 'success',
          upstreamStatus: 200,
          result,
          response: reply,
          toolFailed,
          toolError: toolFailed ? textOf(result) : undefined,
          // Who is asked something first has done nothing yet.
          ...(result.resultType === 'input_required' && { isSent: false }),
          ...(within === undefined &&
            typeof protocolVersion === 'string' && {
              protocolVersion,
              upstreamProtocolVersion: protocolVersion,
            }),
        });
      },
      failed: (code, reply) =>
        tell({
          outcome: 'upstream_error',
          upstreamStatus: 200,
          errorCode: `mcp.${code}`,
          rpcErrorCode: code,
          response: reply,
        }),
      interrupted: () => tell({ outcome: 'partial', status: 200, upstreamStatus: 200 }),
      checked: (verdicts) => {
        hookVerdicts = [...hookVerdicts, ...verdicts];
      },
      thrown: (error) => {
        const end = endOf(error);
        if (started !== undefined || isTold) tell(end);
        else {
          isTold = true;
          const { errorCode: code = '', status = 500, failureCause } = end;
          void this.#meter.refuse(exchange, event, { code, status, failureCause }, way);
        }
        return error;
      },
    };
  }
}

/** Written member by member: whatever became of a call, those who read it meet one shape. */
function whole(
  end: CallEnd,
  within: Within | undefined,
  transportUpstream: string,
  hookVerdicts: readonly string[],
): CallEnd {
  return {
    outcome: end.outcome,
    status: end.status,
    errorCode: end.errorCode,
    failureCause: end.failureCause,
    toolFailed: end.toolFailed,
    toolError: end.toolError,
    rpcErrorCode: end.rpcErrorCode,
    upstreamStatus: end.upstreamStatus,
    sessionId: within?.name,
    protocolVersion: end.protocolVersion ?? within?.revision,
    upstreamProtocolVersion: end.upstreamProtocolVersion ?? within?.revision,
    transportUpstream,
    hookVerdicts,
    result: end.result,
    response: end.response,
    isSent: end.isSent,
  };
}

function endOf(error: unknown): CallEnd {
  if (error instanceof ToolDenial) {
    const { result } = error;
    const isSent = result !== undefined;
    return {
      outcome: 'denied',
      status: 446,
      errorCode: 'guardrail.denied',
      isSent,
      ...(isSent && { result, upstreamStatus: 200 }),
    };
  }
  if (!(error instanceof McpFault)) {
    const { code, status, failureCause } = fromUnknown(error);
    const outcome =
      code === 'request.aborted' ? 'caller_gone' : status >= 500 ? 'gateway_error' : 'denied';
    // At the drain's deadline it is on its way, and may have been done.
    const isSent = code === 'gateway.draining' ? true : undefined;
    return { outcome, status, errorCode: code, failureCause, isSent };
  }
  const errorCode = `mcp.${error.code}`;
  const { upstream_status: upstreamStatus, reason } = (error.data ?? {}) as {
    upstream_status?: number;
    reason?: unknown;
  };
  if (upstreamStatus !== undefined) return { outcome: 'upstream_error', errorCode, upstreamStatus };
  if (error.code === rpcCodes.requestTimeout && error.status !== 404)
    return { outcome: 'upstream_failure', errorCode, failureCause: 'timeout' };
  if (error.code !== rpcCodes.internalError) return { outcome: 'denied', status: 403, errorCode };
  const failureCause = causeOf(reason);
  return {
    outcome: 'upstream_failure',
    errorCode,
    failureCause,
    isSent: failureCause === undefined || !unreached.has(failureCause),
  };
}

function causeOf(reason: unknown): FailureCause | undefined {
  return typeof reason === 'string' && Object.hasOwn(failureCauses, reason)
    ? (reason as FailureCause)
    : undefined;
}

/** Nothing was sent. */
const unreached: ReadonlySet<FailureCause> = new Set([
  'dns',
  'dns_unavailable',
  'refused',
  'no_route',
  'connect_timeout',
  'busy',
  'proxy_unreachable',
  'proxy_refused',
  'tls_expired',
  'tls_self_signed',
  'tls_wrong_host',
  'tls_untrusted',
  'tls',
]);

/** What a tool said of its failure. */
function textOf({ content }: JsonObject): string | undefined {
  const [first] = Array.isArray(content) ? content : [];
  const text = (first as { text?: unknown } | null | undefined)?.text;
  return typeof text === 'string' ? text : undefined;
}
