import { type GatewayError, gatewayErrorBody } from '@sluice/errors';
import { type ContentFacts, kindOfEndpoint, visibleContent } from '@sluice/log-content';
import type { LogFormat } from '@sluice/object-store';
import { uuidText } from '@sluice/usage';
import type { ServerEvent } from '../exchange/event.ts';
import type { EventRequester } from '../exchange/event-requester.ts';
import type { ModelExchange, Visit } from '../exchange/exchange.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import type { Reply, ReplySink, StreamReply } from '../exchange/reply.ts';
import type { ContentTaker } from './content-taker.ts';
import { type Holding, KeptContent } from './kept-content.ts';

export interface ContentKeeperOptions {
  readonly format: LogFormat;
  /** Whether there is a store to keep it in. */
  readonly isStored: boolean;
  /** Of each body; what is longer is cut. */
  readonly bodyBytesMax: number;
}

type KeptVisit = Visit & { readonly prepared?: PreparedCall | undefined };

/**
 * Notes what was asked and answered, target by target, without touching either:
 * references to bytes that are there anyway. What may be kept is decided before
 * anything is noted, and nothing is written here.
 */
export class ContentKeeper {
  readonly #takers: readonly ContentTaker[];
  readonly #options: ContentKeeperOptions;
  readonly #holding: Holding;

  /** @param holding of all that is noted and not written yet, by the takers as well */
  constructor(takers: readonly ContentTaker[], holding: Holding, options: ContentKeeperOptions) {
    this.#takers = takers;
    this.#holding = holding;
    this.#options = options;
  }

  /** Whether bodies of a request may be kept, or told of: worth being collected. */
  keeps(exchange: ModelExchange): boolean {
    return visibleContent(factsOf(exchange, false)).request;
  }

  /** The layout that the request's content is kept in; empty = it is not. */
  formatFor(exchange: ModelExchange): LogFormat | '' {
    const { isStored, format } = this.#options;
    return isStored && visibleContent(factsOf(exchange, false)).request ? format : '';
  }

  /** The reply to send in its place: what passes is noted. */
  keepReply(visit: KeptVisit, reply: Reply): Reply {
    const content = this.#open(visit, reply.status, reply.headers);
    if (content === undefined) return reply;
    if (reply.kind === 'stream') return new KeptStream(reply, content, this.#takers);
    content.addResponse(reply.body);
    give(content.end(), this.#takers);
    return reply;
  }

  /** A target that could not be asked, or gave no answer: what the caller would be told. */
  keepError(visit: KeptVisit, error: GatewayError): void {
    const content = this.#open(visit, error.status, { 'content-type': 'application/json' });
    if (content === undefined) return;
    const body = gatewayErrorBody(error, visit.exchange.arrival.requestIdText);
    content.addResponse(Buffer.from(JSON.stringify(body)));
    give(content.end(), this.#takers);
  }

  /** What of a call of a server or an agent may be kept. */
  visibleOfEvent(requester: EventRequester, { mode }: ServerEvent, hasFailed: boolean) {
    return visibleContent(factsOfEvent(requester, mode, hasFailed));
  }

  /**
   * Notes what was asked and answered, once it is over.
   * @returns the layout it is kept in; empty = it is not
   */
  keepEvent(
    requester: EventRequester,
    event: ServerEvent,
    { id, status, startedAt, hasFailed, request, response }: EventContent,
  ): LogFormat | '' {
    const visible = this.visibleOfEvent(requester, event, hasFailed);
    if (!visible.request && !visible.response) return '';
    const { isStored, format, bodyBytesMax } = this.#options;
    const { arrival, key, bundle } = requester;
    const json = { 'content-type': 'application/json' };
    const content = new KeptContent(
      {
        logId: uuidText(id),
        format,
        organisationId: key?.source.organisationId ?? '',
        workspaceId: key?.source.workspaceId ?? '',
        workspaceSlug: bundle?.source.workspaceSlug ?? '',
        createdAtMs: arrival.startedAtMs,
        method: arrival.method,
        url: event.url,
        optionPath: '',
        streamFormat: undefined,
        status,
        requestHeaders: visible.request ? arrival.headers : {},
        responseHeaders: json,
        sent: undefined,
      },
      {
        startedAt,
        bytesMax: bodyBytesMax,
        keepsResponse: visible.response,
        holding: this.#holding,
        takers: this.#takers.length,
      },
    );
    if (visible.request && request !== undefined) content.addRequest(request);
    if (response !== undefined) content.addResponse(response);
    give(content.end(), this.#takers);
    return isStored ? format : '';
  }

  #open(
    visit: KeptVisit,
    status: number,
    responseHeaders: Reply['headers'],
  ): KeptContent | undefined {
    const { exchange, entry, prepared } = visit;
    // Without a record of its own it belongs to the one before.
    if (entry === undefined) return undefined;
    const { arrival, subject, key, bundle } = exchange;
    const visible = visibleContent(factsOf(exchange, status >= 400));
    if (!visible.request) return undefined;
    const content = new KeptContent(
      {
        logId: uuidText(entry.id),
        format: this.#options.format,
        organisationId: key?.source.organisationId ?? '',
        workspaceId: key?.source.workspaceId ?? '',
        workspaceSlug: bundle?.source.workspaceSlug ?? '',
        createdAtMs: arrival.startedAtMs,
        method: arrival.method,
        url: subject.pathname,
        optionPath: visit.planned.path,
        streamFormat: subject.operation.format,
        status,
        requestHeaders: arrival.headers,
        responseHeaders,
        sent: undefined,
      },
      {
        startedAt: visit.startedAt,
        bytesMax: this.#options.bodyBytesMax,
        keepsResponse: visible.response,
        holding: this.#holding,
        takers: this.#takers.length,
      },
    );
    if (visit.loggedRequest !== undefined) content.addRequest(visit.loggedRequest);
    else if (subject.form !== undefined)
      content.addRequest(Buffer.from(JSON.stringify(subject.json)));
    else if (subject.body !== undefined) content.addRequest(subject.body);
    if (visible.provider && this.#options.isStored && prepared !== undefined)
      content.addProvider(prepared, subject.body, visit.providerAnswer);
    return content;
  }
}

/** The bodies of a call: of MCP arguments and result, as JSON. */
export interface EventContent {
  /** Of its record. */
  readonly id: Buffer;
  readonly status: number;
  /** `performance.now()` when it began. */
  readonly startedAt: number;
  readonly hasFailed: boolean;
  readonly request: Buffer | undefined;
  readonly response: Buffer | undefined;
}

function factsOf({ subject, bundle, arrival }: ModelExchange, hasFailed: boolean): ContentFacts {
  return factsOfEvent({ bundle, arrival }, subject.operation.id, hasFailed);
}

function factsOfEvent(
  { bundle, arrival }: Pick<EventRequester, 'bundle' | 'arrival'>,
  endpoint: string,
  hasFailed: boolean,
): ContentFacts {
  return {
    kind: kindOfEndpoint(endpoint),
    // A control plane that does not say keeps nothing.
    mode: bundle?.source.requestLogging === 'full' ? 'full' : 'metrics',
    isEnforced: bundle?.source.requestLoggingEnforced === true,
    isUnwanted: !arrival.caller.debug,
    hasFailed,
  };
}

function give(content: KeptContent, takers: readonly ContentTaker[]): void {
  for (const taker of takers) taker.add(content);
}

/** Passes everything on first, and notes it afterwards. */
class KeptStream implements StreamReply {
  readonly kind = 'stream';
  readonly status: number;
  readonly headers: StreamReply['headers'];
  readonly #reply: StreamReply;
  readonly #content: KeptContent;
  readonly #takers: readonly ContentTaker[];
  #isOver = false;

  constructor(reply: StreamReply, content: KeptContent, takers: readonly ContentTaker[]) {
    this.status = reply.status;
    this.headers = reply.headers;
    this.#reply = reply;
    this.#content = content;
    this.#takers = takers;
  }

  pipeTo(sink: ReplySink): void {
    const content = this.#content;
    this.#reply.pipeTo({
      write(chunk) {
        const wantsMore = sink.write(chunk);
        content.addResponse(chunk);
        return wantsMore;
      },
      onDrain: (listener) => sink.onDrain(listener),
      end: () => {
        sink.end();
        this.#end();
      },
      cut: (code) => {
        sink.cut(code);
        this.#end();
      },
    });
  }

  discard(): void {
    this.#reply.discard();
    this.#end();
  }

  wasWhole(): boolean {
    return this.#reply.wasWhole();
  }

  conclude(denied: GatewayError | undefined): Buffer {
    return this.#reply.conclude?.(denied) ?? nothing;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    give(this.#content.end(), this.#takers);
  }
}

const nothing = Buffer.alloc(0);
