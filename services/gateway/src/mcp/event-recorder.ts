import type { JsonObject } from '@sluice/contracts';
import { fromUnknown } from '@sluice/errors';
import { McpFault, type McpRequest } from '@sluice/mcp';
import { usage } from '@sluice/proto-stubs';
import type { Logger } from '@sluice/telemetry';
import type { UsageRecord } from '@sluice/usage';
import { clipped } from '../exchange/clipped.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import type { McpCall } from './mcp-call.ts';

const { Outcome } = usage;

/** What comes of one event, told once. */
export interface RecordedEvent {
  /** Resolves when it is noted that it begins: what cannot be noted is not asked. */
  readonly noted: Promise<void> | undefined;
  succeeded(result: JsonObject): void;
  /** The server refused, in JSON-RPC's words. */
  failed(code: number): void;
  /** Its stream ended before the answer, which may be asked for again. */
  interrupted(): void;
  /** @returns what was thrown */
  thrown(error: unknown): unknown;
}

/** As logs call them; others go by their method. */
const modes: Readonly<Record<string, string>> = {
  'tools/call': 'mcp:tool_call',
  'resources/read': 'mcp:resource_read',
  'prompts/get': 'mcp:prompt_get',
  initialize: 'mcp:initialize',
};

/** Places in the address of an event. */
const places: Readonly<Record<string, string>> = {
  'tools/call': 'tools',
  'resources/read': 'resources',
  'prompts/get': 'prompts',
};

/** Leaves one record for each request to a server, whatever comes of it. */
export class EventRecorder {
  readonly #recorder: UsageRecorder;
  readonly #logger: Logger;

  constructor(recorder: UsageRecorder, logger: Logger) {
    this.#recorder = recorder;
    this.#logger = logger;
  }

  begin(call: McpCall, asked: McpRequest): RecordedEvent {
    const { exchange, server } = call;
    const record = this.#recorder.blankOf(exchange);
    const startedAt = performance.now();
    record.provider = 'mcp';
    record.providerSlug = server.source.slug;
    record.model = server.source.id;
    record.strategyMode = modes[asked.method] ?? clipped(`mcp:${asked.method}`);
    record.requestUrl = addressOf(server.source.slug, asked);
    // A call does something; what only reads is told once it is over.
    const begun = asked.method in places ? this.#recorder.begin(record, nothingLost) : undefined;
    let isTold = false;
    const tell = (outcome: usage.Outcome, status: number, errorCode = '', reason = '') => {
      if (isTold) return;
      isTold = true;
      record.outcome = outcome;
      record.statusCode = status;
      record.errorCode = errorCode;
      record.finishReason = reason;
      const now = performance.now();
      record.latencyMs = now - exchange.arrival.startedAt;
      record.attemptMs = now - startedAt;
      record.entryMs = record.attemptMs;
      this.#store(record, exchange.arrival.requestIdText, begun?.opening);
    };
    return {
      noted: begun?.written,
      succeeded(result) {
        // The server did what it was asked; whether the tool did is another question.
        const isToolError = result.isError === true;
        tell(Outcome.SUCCESS, 200, '', isToolError ? 'tool_error' : '');
      },
      failed: (code) => tell(Outcome.UPSTREAM_ERROR, 500, `mcp.${code}`),
      interrupted: () => tell(Outcome.PARTIAL, 200),
      thrown(error) {
        if (error instanceof McpFault) {
          const isDenied = error.code !== -32603 && error.code !== -32001;
          tell(
            isDenied ? Outcome.DENIED : Outcome.UPSTREAM_FAILURE,
            isDenied ? 403 : 500,
            `mcp.${error.code}`,
          );
          return error;
        }
        const { code, status } = fromUnknown(error);
        const outcome =
          code === 'request.aborted'
            ? Outcome.CALLER_GONE
            : status >= 500
              ? Outcome.GATEWAY_ERROR
              : Outcome.DENIED;
        tell(outcome, status, code);
        return error;
      },
    };
  }

  #store(record: UsageRecord, requestId: string, opening: Buffer | undefined): void {
    this.#recorder.store(record, undefined, opening).catch((error: unknown) => {
      this.#logger.error(
        { err: error, request_id: requestId },
        'a usage record could not be stored',
      );
    });
  }
}

const nothingLost = { prompt: undefined, counts: undefined };

/** `mcp://weather/tools/forecast` */
function addressOf(slug: string, { method, subject }: McpRequest): string {
  const place = places[method];
  const path = place === undefined || subject === undefined ? method : `${place}/${subject}`;
  return clipped(`mcp://${slug}/${path}`);
}
