import type { ServerResponse } from 'node:http';

/** An answer that is JSON, or events as soon as there is something to say before the result. */
export class EventStream {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  get isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  open(headers: Readonly<Record<string, string>> = {}): void {
    if (this.#response.headersSent || !this.isOpen) return;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      ...headers,
    });
    this.#response.flushHeaders();
  }

  send(message: unknown): void {
    this.open();
    if (this.isOpen) this.#response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  /** The last message: an event when there were others, else the whole answer. */
  end(message: unknown, status = 200): void {
    if (!this.isOpen) return;
    if (this.#response.headersSent) {
      this.send(message);
      this.#response.end();
      return;
    }
    const body = JSON.stringify(message);
    this.#response.writeHead(status, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    this.#response.end(body);
  }

  /** Nothing more comes, and no result. */
  close(): void {
    if (!this.isOpen) return;
    if (!this.#response.headersSent) this.open();
    this.#response.end();
  }
}
