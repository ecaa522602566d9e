import { GatewayError } from '@sluice/errors';
import { JsonError, jsonBounds, readJsonText } from '@sluice/json';
import { isObject, type SseBlock, SseReader } from '@sluice/mcp';
import type { JsonObject } from '@sluice/providers';
import type { BodyReply, Reply, ReplySink, StreamReply } from '../exchange/reply.ts';
import { jsonObjectIn } from '../http/json-body.ts';

export interface Keeping {
  /** Members of the response that are not its provider's to say. */
  readonly told: JsonObject;
  /** False = it is not kept. Never rejects. */
  readonly keep: (response: JsonObject) => Promise<boolean>;
  /** Hears of a stream of which nothing is kept, since nobody can hold an event of it; says whether it passes all the same, or is cut. */
  readonly lose: (error: GatewayError) => 'pass' | 'cut';
}

/** Of an event of a stream: as much as the largest response may have by default. */
export const eventBytesMax = 32 * 1024 * 1024;

/** Who keeps the response: the service, or nobody, since it could not. */
export const keptHeader = 'x-service-response-store';

/**
 * A reply whose response is kept before the caller has all of it: what goes on from it finds it, at any gateway. Its id is ours from the
 * start; events that tell no response pass as they came.
 */
export function keptReply(reply: Reply, keeping: Keeping): Reply | Promise<Reply> {
  if (reply.kind === 'body') return keptBody(reply, keeping);
  const isEvents = /^text\/event-stream\b/i.test(String(reply.headers['content-type']));
  return isEvents ? keptStream(reply, keeping) : reply;
}

async function keptBody(reply: BodyReply, { told, keep }: Keeping): Promise<Reply> {
  const document = reply.status < 300 ? jsonObjectIn(reply.body) : undefined;
  if (document?.object !== 'response') return reply;
  const response = { ...document, ...told };
  const isKept = await keep(response);
  return {
    ...reply,
    headers: { ...reply.headers, [keptHeader]: isKept ? 'gateway' : 'none' },
    body: Buffer.from(JSON.stringify(isKept ? response : { ...response, store: false })),
  };
}

function keptStream(reply: StreamReply, keeping: Keeping): StreamReply {
  delete reply.headers['content-length'];
  return {
    ...reply,
    pipeTo: (sink) => reply.pipeTo(new KeepingSink(sink, keeping)),
  };
}

const ends: ReadonlySet<unknown> = new Set([
  'response.completed',
  'response.failed',
  'response.incomplete',
]);

class KeepingSink implements ReplySink {
  readonly #sink: ReplySink;
  readonly #keeping: Keeping;
  readonly #reader = new SseReader(jsonBounds.reply.bytesMax);
  /** How much the reader holds of an event that has not ended. */
  #unfinished = 0;
  /** How much is held behind the end. */
  #behind = 0;
  /** What becomes of what comes: an event too large to be held passes as it is, or is left out behind the end. */
  #reads: 'events' | 'nothing, and passes it' | 'nothing' = 'events';
  /** What follows the end, while that is being kept. */
  #held: Buffer[] | undefined;
  #kept: Promise<void> | undefined;

  constructor(sink: ReplySink, keeping: Keeping) {
    this.#sink = sink;
    this.#keeping = keeping;
  }

  write(chunk: Buffer): boolean {
    if (this.#reads === 'nothing') return true;
    if (this.#reads !== 'events') return this.#sink.write(chunk);
    const passed: Buffer[] = [];
    this.#unfinished += chunk.length;
    for (const block of this.#reader.push(chunk)) {
      this.#unfinished -= block.bytes.length;
      const bytes = this.#taken(block);
      if (this.#held === undefined) passed.push(bytes);
      else {
        this.#held.push(bytes);
        this.#behind += bytes.length;
      }
    }
    if (this.#unfinished + this.#behind > eventBytesMax) passed.push(this.#letGo());
    const [first] = passed;
    if (first === undefined) return true;
    return this.#sink.write(passed.length === 1 ? first : Buffer.concat(passed));
  }

  onDrain(listener: () => void): void {
    this.#sink.onDrain(listener);
  }

  end(): void {
    const rest = this.#reader.end();
    void (this.#kept ?? Promise.resolve()).then(() => {
      if (rest !== undefined) this.#sink.write(rest);
      this.#sink.end();
    });
  }

  cut(code: Parameters<ReplySink['cut']>[0]): void {
    void (this.#kept ?? Promise.resolve()).then(() => this.#sink.cut(code));
  }

  /** What is held of an event that is too large to be read. */
  #letGo(): Buffer {
    const rest = this.#reader.end() ?? Buffer.alloc(0);
    if (this.#held !== undefined) {
      // The response is whole: what its provider says behind it is no part of it.
      this.#reads = 'nothing';
      return Buffer.alloc(0);
    }
    this.#reads = 'nothing, and passes it';
    if (this.#kept !== undefined) return rest;
    const message = `An event of its stream has more than ${eventBytesMax} bytes.`;
    if (this.#keeping.lose(new GatewayError('response.too_large', { message })) === 'pass')
      return rest;
    this.#reads = 'nothing';
    this.#sink.cut('upstream.invalid_response');
    return Buffer.alloc(0);
  }

  /** The event as the caller is told it; the last one's is told when it is kept. */
  #taken(block: SseBlock): Buffer {
    const { data } = block;
    // Pieces of text are most of a stream.
    if (data?.includes('"response"') !== true) return block.bytes;
    const event = eventIn(data);
    const document = event?.response;
    if (event === undefined || !isObject(document)) return block.bytes;
    const response = { ...document, ...this.#keeping.told };
    if (!ends.has(event.type) || this.#kept !== undefined)
      return eventOf(block, { ...event, response });
    this.#held = [];
    this.#kept = this.#keeping.keep(response).then((isKept) => {
      const last = isKept ? response : { ...response, store: false };
      const held = this.#held ?? [];
      this.#held = undefined;
      this.#behind = 0;
      this.#sink.write(Buffer.concat([eventOf(block, { ...event, response: last }), ...held]));
    });
    return Buffer.alloc(0);
  }
}

/** Undefined = it is none that can be read. */
export function eventIn(data: string): JsonObject | undefined {
  try {
    const value = readJsonText(data, jsonBounds.reply);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

function eventOf({ name, id }: SseBlock, data: JsonObject): Buffer {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${name === '' ? '' : `event: ${name}\n`}`;
  return Buffer.from(`${head}data: ${JSON.stringify(data)}\n\n`);
}
