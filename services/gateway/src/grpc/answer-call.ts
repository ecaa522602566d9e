import type { ServerHttp2Stream } from 'node:http2';
import { create } from '@bufbuild/protobuf';
import { type Metadata, type ServerInterceptingCallInterface, status } from '@grpc/grpc-js';
import {
  type Arrival,
  type Arriving,
  type HeaderSpelling,
  spelledHeaders,
  spellingOf,
} from '@sluice/contracts';
import { fromUnknown, type GatewayError } from '@sluice/errors';
import { callers } from '@sluice/proto-stubs';
import { notePassingBytes } from '@sluice/service';
import { type Exchange, openExchange } from '../exchange/exchange.ts';
import type { BodyReply, Reply, ReplyHeaders, ReplySink, StreamReply } from '../exchange/reply.ts';
import { modelCall } from '../exchange/subject.ts';
import { errorBody, errorHeaders } from '../routes/error-reply.ts';
import { arrivalBy } from '../routes/open-arrival.ts';
import {
  goneSink,
  observe,
  observeError,
  type ServeDeps,
  type Serving,
  tellWay,
} from '../routes/serve.ts';
import { pathnameOf } from '../routes/unified-endpoints.ts';
import { infrastructureStatus, messageIn, statusOf } from './call-status.ts';
import type { CalledEndpoint } from './called-endpoints.ts';
import { GrpcCarrier } from './grpc-carrier.ts';
import { headersOf, trailingOf } from './metadata.ts';

export interface AnswerCallDeps {
  readonly serving: ServeDeps;
  /** The pipeline of endpoints with a body, the same as HTTP's. */
  readonly run: (exchange: Exchange, spelling: HeaderSpelling) => Promise<Reply>;
  readonly readArrival: (arriving: Arriving) => Arrival;
  /** The port has a certificate. */
  readonly encrypted: boolean;
  /** How long calls may take, ms. */
  readonly timeoutMs: { readonly unary: number; readonly stream: number };
  /** Where failures of HTTP's level are told: in the answer, or by the call's status. */
  readonly tellsFailures: 'body' | 'status';
}

/** What a caller who reads slowly may be behind before the provider is waited for less, bytes. */
const aheadBytesMax = 64 * 1024;

/** One call of a method that is a request of HTTP: the only place where replies and errors become gRPC. */
export class AnsweredCall {
  readonly #call: ServerInterceptingCallInterface;
  readonly #called: CalledEndpoint;
  readonly #deps: AnswerCallDeps;
  readonly #serving: Serving;
  readonly #abort = new AbortController();
  #carrier: GrpcCarrier | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #hasEnded = false;
  /** What was written and has not left yet, bytes. */
  #ahead = 0;
  #whenDrained: (() => void)[] = [];

  constructor(call: ServerInterceptingCallInterface, called: CalledEndpoint, deps: AnswerCallDeps) {
    this.#call = call;
    this.#called = called;
    this.#deps = deps;
    this.#serving = { ...deps.serving, name: called.operation.id };
  }

  start(): void {
    this.#call.start({
      onReceiveMetadata: (metadata) => this.#open(metadata),
      onReceiveMessage: ({ input }: { input: string }) => this.#carrier?.receive(input),
      onReceiveHalfClose: () => this.#carrier?.receiveEnd(),
      // However it ended.
      onCancel: () => {
        clearTimeout(this.#deadline);
        this.#carrier?.end(!this.#hasEnded);
        this.#hasEnded = true;
      },
    });
  }

  #open(metadata: Metadata): void {
    const { operation, asksStream } = this.#called;
    const { readArrival, encrypted, timeoutMs } = this.#deps;
    const headers = headersOf(metadata, this.#call.getHost() ?? '');
    const carrier = new GrpcCarrier({
      call: this.#call,
      stream: streamOf(this.#call),
      headers,
      target: pathnameOf(operation),
      asksStream,
      address: () =>
        readArrival({
          address: this.#call.getConnectionInfo().remoteAddress,
          encrypted,
          headers,
        }).address,
      refuse: (details) => this.#giveUp(status.INVALID_ARGUMENT, details),
    });
    this.#carrier = carrier;
    this.#deadline = setTimeout(
      () => this.#giveUp(status.DEADLINE_EXCEEDED, 'The call took longer than the gateway allows.'),
      asksStream === true ? timeoutMs.stream : timeoutMs.unary,
    );
    this.#answer(carrier);
  }

  #answer(carrier: GrpcCarrier): void {
    const { operation } = this.#called;
    const spelling = spellingOf(this.#serving.headerPrefixes, carrier.headers);
    const owner = () => exchange.key?.source.workspaceId ?? '';
    const arrival = arrivalBy(carrier, this.#serving, { abort: this.#abort, owner });
    const subject = modelCall(operation, arrival.pathname, arrival.search);
    const exchange: Exchange = openExchange(arrival, subject);
    this.#deps
      .run(exchange, spelling)
      .then((reply) => this.#send(reply, exchange, spelling, carrier))
      .catch((caught: unknown) => {
        // Whatever is still under way has nobody left to answer to.
        this.#abort.abort();
        this.#fail(fromUnknown(caught), exchange, spelling);
      })
      .catch((fault: unknown) => {
        this.#serving.logger.error(
          { err: fault, request_id: arrival.requestIdText },
          'no answer was sent',
        );
        this.#end(status.INTERNAL, 'The gateway failed.');
      });
  }

  #send(reply: Reply, exchange: Exchange, spelling: HeaderSpelling, carrier: GrpcCarrier): void {
    tellWay(reply.headers, exchange);
    if (this.#hasEnded) {
      observe(exchange, 499, '', this.#serving);
      if (reply.kind === 'stream') reply.pipeTo(goneSink);
      return;
    }
    const trailing = this.#trailing(reply.status, reply.headers, spelling);
    if (reply.kind === 'stream') {
      this.#pipe(reply, exchange, trailing, carrier);
      return;
    }
    this.#tell(reply, trailing);
    observe(exchange, reply.status, '', this.#serving);
  }

  #pipe(reply: StreamReply, exchange: Exchange, trailing: Metadata, carrier: GrpcCarrier): void {
    let isWhole = false;
    let cutCode = '';
    const ended = this.#serving.openStreams.open();
    carrier.onceOver(() => {
      ended();
      observe(exchange, isWhole ? reply.status : 499, cutCode, this.#serving);
    });
    const pieces: Buffer[] = [];
    const isCollected = this.#called.asksStream !== true;
    const sink: ReplySink = {
      write: (piece) => {
        notePassingBytes(piece.length);
        if (!isCollected) return this.#write(piece);
        if (exchange.arrival.holdBytes(piece.length)) pieces.push(piece);
        else this.#giveUp(status.RESOURCE_EXHAUSTED, 'The answer is larger than is held at once.');
        return true;
      },
      onDrain: (listener) => void this.#whenDrained.push(listener),
      end: () => {
        isWhole = !this.#hasEnded;
        if (isCollected)
          this.#tell({ status: reply.status, body: Buffer.concat(pieces) }, trailing);
        else this.#end(status.OK, '', trailing);
      },
      cut: (code) => {
        isWhole = !this.#hasEnded;
        cutCode = code;
        this.#end(
          infrastructureStatus(code) ?? status.UNAVAILABLE,
          `The answer broke off: ${code}.`,
          trailing,
        );
      },
    };
    reply.pipeTo(sink);
  }

  #fail(error: GatewayError, exchange: Exchange, spelling: HeaderSpelling): void {
    observeError(error, exchange, this.#serving);
    if (this.#hasEnded) return;
    const headers = { ...errorHeaders(error, exchange), 'x-service-error-code': error.code };
    const trailing = this.#trailing(error.status, headers, spelling);
    const code = infrastructureStatus(error.code);
    if (code !== undefined) this.#end(code, error.message, trailing);
    else this.#tell({ status: error.status, body: errorBody(error, exchange, spelling) }, trailing);
  }

  /** A whole answer: of a stream that failed, its only piece. */
  #tell({ status: http, body }: Pick<BodyReply, 'status' | 'body'>, trailing: Metadata): void {
    if (this.#hasEnded) return;
    const code = statusOf(http);
    if (code !== status.OK && this.#deps.tellsFailures === 'status') {
      this.#end(code, messageIn(body) ?? `HTTP ${http}`, trailing);
      return;
    }
    if (this.#called.asksStream === true) this.#write(body);
    else
      this.#call.sendMessage(
        create(callers.GatewayResponseSchema, { statusCode: http, body }),
        () => {},
      );
    this.#end(status.OK, '', trailing);
  }

  /** @returns false when the caller is behind */
  #write(data: Buffer): boolean {
    if (this.#hasEnded || data.length === 0) return true;
    this.#ahead += data.length;
    this.#call.sendMessage(create(callers.GatewayStreamResponseSchema, { data }), () => {
      this.#ahead -= data.length;
      if (this.#ahead > 0) return;
      for (const listener of [...this.#whenDrained]) listener();
    });
    return this.#ahead < aheadBytesMax;
  }

  /** The end that is not the answer's. */
  #giveUp(code: status, details: string): void {
    this.#end(code, details);
    this.#abort.abort();
  }

  #end(code: status, details: string, metadata?: Metadata): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // It travels percent-encoded, which halves of characters cannot be.
    const text = details.slice(0, detailsLengthMax).toWellFormed();
    this.#call.sendStatus({ code, details: text, metadata: metadata ?? null });
  }

  #trailing(http: number, headers: ReplyHeaders, spelling: HeaderSpelling): Metadata {
    const all = { ...headers, 'x-service-status-code': String(http) };
    return trailingOf(
      spelledHeaders(this.#serving.headerPrefixes, spelling, all),
      spelling.replied,
    );
  }
}

/**
 * The stream below a call, which grpc-js has as a private field: it tells of messages when they are whole, and has no
 * bound but their size. A version that keeps it elsewhere fails the test of messages that drip.
 */
function streamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream | undefined {
  const { stream } = call as { stream?: ServerHttp2Stream };
  return stream;
}

/** It is metadata, too. */
const detailsLengthMax = 512;
