import type { JsonValue } from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonObject, readJsonText } from '@sluice/json';
import { isObject, type SseBlock, SseReader } from '@sluice/mcp';
import type { BodyReply, Reply, ReplySink, StreamReply } from '../exchange/reply.ts';
import type { LoopFormat, Turn } from './loop-format.ts';

export interface ToolStreamParts {
  readonly first: StreamReply;
  readonly format: LoopFormat;
  /** Aborted when the caller leaves. */
  readonly signal: AbortSignal;
  /** Nothing more may be asked of the model. */
  readonly isOver: () => boolean;
  readonly call: (turn: Turn, tell: (events: string) => void) => Promise<void>;
  readonly ask: () => Promise<Reply>;
}

/** Proxies close what is silent for longer. */
const silenceMs = 15_000;
/** Of an event that is read, which may hold pictures. */
const eventBytesMax = 32 * 1024 * 1024;

/** The streams of all rounds as one. */
export class ToolStream {
  readonly #parts: ToolStreamParts;
  #sink: ReplySink | undefined;
  #onDrain: () => void = () => {};
  #toldAt = performance.now();
  wasWhole = false;

  constructor(parts: ToolStreamParts) {
    this.#parts = parts;
  }

  pipeTo(sink: ReplySink): void {
    this.#sink = sink;
    // One for all rounds: whoever listens is another in each.
    sink.onDrain(() => this.#onDrain());
    const timer = setInterval(() => this.#keepAlive(), silenceMs);
    timer.unref();
    this.#run()
      .catch((error: unknown) => this.#endBroken(error))
      .finally(() => clearInterval(timer));
  }

  async #run(): Promise<void> {
    const { format, isOver, call, ask } = this.#parts;
    let reply: Reply = this.#parts.first;
    for (;;) {
      if (reply.kind === 'body') return this.#endRefused(reply);
      const turn = await this.#round(reply);
      if (turn === undefined) return this.#sink?.end();
      await call(turn, (events) => this.#tell(events));
      const isCut = !turn.isLast && isOver();
      if (turn.isLast || isCut) {
        this.wasWhole = true;
        this.#tell(format.endEvents(isCut));
        return this.#sink?.end();
      }
      reply = await ask();
    }
  }

  /** Undefined = it ended in an error, which was told, or was cut. */
  #round(reply: StreamReply): Promise<Turn | undefined> {
    const { format } = this.#parts;
    const events = new SseReader(eventBytesMax);
    let isLeft = false;
    format.beginStream();
    return new Promise((resolve, reject) => {
      reply.pipeTo({
        write: (chunk) => {
          if (isLeft) return true;
          let told = '';
          try {
            for (const event of events.push(chunk)) told += this.#takeEvent(event);
          } catch (cause) {
            isLeft = true;
            this.#tell(told);
            reject(new GatewayError('upstream.invalid_response', { cause }));
            // Nobody hears what follows, which may have no end.
            reply.discard();
            return true;
          }
          return this.#tell(told);
        },
        onDrain: (listener) => {
          this.#onDrain = listener;
        },
        end: () => {
          if (!isLeft) resolve(format.endStream());
        },
        cut: (code) => {
          if (isLeft) return;
          this.#sink?.cut(code);
          resolve(undefined);
        },
      });
    });
  }

  #takeEvent({ data, name, bytes }: SseBlock): string {
    if (data === undefined || data === '' || data === '[DONE]') return '';
    const event = readJsonText(data, jsonBounds.reply) as JsonValue;
    // What is none of the format's is for the caller to read.
    if (!isObject(event) || typeof event.type !== 'string') return bytes.toString('utf8');
    return this.#parts.format.takeEvent(name, event);
  }

  #tell(events: string): boolean {
    if (events === '') return true;
    this.#toldAt = performance.now();
    return this.#sink?.write(Buffer.from(events)) ?? true;
  }

  #keepAlive(): void {
    if (performance.now() - this.#toldAt >= silenceMs) this.#tell(this.#parts.format.keepAlive);
  }

  /** A later round was refused: the head is long sent. */
  #endRefused({ body, status }: BodyReply): void {
    const said = readJsonObject(body, jsonBounds.reply)?.error as JsonValue | undefined;
    const { type, code, message } = isObject(said) ? said : {};
    this.#tell(
      this.#parts.format.errorEvent({
        type: typeof type === 'string' ? type : 'api_error',
        status,
        code: typeof code === 'string' ? code : String(status),
        message: typeof message === 'string' ? message : 'The model could not be asked again.',
      }),
    );
    this.#sink?.end();
  }

  #endBroken(caught: unknown): void {
    const { signal, format } = this.#parts;
    const { reason } = signal;
    // At the drain's deadline callers are there to be told.
    const isDraining = reason instanceof GatewayError && reason.code === 'gateway.draining';
    const error = isDraining ? reason : fromUnknown(caught);
    if (error.code !== 'request.aborted' && (isDraining || !signal.aborted)) {
      const { type, status, code, message } = error;
      this.#tell(format.errorEvent({ type, status, code, message }));
    }
    this.#sink?.end();
  }
}
