import { write } from 'node:fs';

export interface RequestLogOptions {
  service: string;
  /** Where the lines go; stderr, as all logs. */
  fd?: number;
  /** How long a line may wait for others to go with it, in ms. */
  lingerMs?: number;
  /** Characters that may wait while whoever reads the log is slow; lines beyond it are dropped. */
  heldMax?: number;
  /** Told once the log can be written again, with the number of lines that were dropped meanwhile. */
  onDropped?: (lines: number) => void;
}

/**
 * What is told of each request, as lines of JSON in the shape of the other logs:
 * one event, and what was done to it. Their fields are fixed lists without secrets, so nothing is redacted. Lines
 * are written many at a time: a write each would cost more than all else that
 * is done to log a request. Nothing here waits for whoever reads the log, or throws.
 */
export class RequestLog {
  /** Lines dropped since the start. */
  dropped = 0;
  readonly #prefix: string;
  readonly #fd: number;
  readonly #lingerMs: number;
  readonly #heldMax: number;
  readonly #onDropped: ((lines: number) => void) | undefined;
  #held = '';
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #droppedUntold = 0;
  #timeMs = 0;
  #time = '';

  constructor({
    service,
    fd = 2,
    lingerMs = 100,
    heldMax = 8 << 20,
    onDropped,
  }: RequestLogOptions) {
    this.#prefix = `","service":${JSON.stringify(service)},`;
    this.#fd = fd;
    this.#lingerMs = lingerMs;
    this.#heldMax = heldMax;
    this.#onDropped = onDropped;
  }

  /** The one event of a request. Members that are undefined are left out. */
  add(fields: object): void {
    this.addMembers(JSON.stringify(fields).slice(1, -1), 'request');
  }

  /**
   * Another event.
   * @param members of an object, as JSON
   * @param message a constant sentence
   */
  addMembers(members: string, message: string): void {
    if (this.#held.length > this.#heldMax) {
      this.dropped += 1;
      this.#droppedUntold += 1;
      return;
    }
    this.#held += `{"level":"info","time":"${this.#now()}${this.#prefix}${members},"msg":"${message}"}\n`;
    if (this.#held.length > batchMax) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), this.#lingerMs).unref();
  }

  /** Writes what is held, for at most `deadlineMs`. */
  async flush(deadlineMs: number): Promise<void> {
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, deadlineMs).unref());
    const written = async () => {
      while (this.#held !== '' || this.#writing !== undefined) {
        this.#write();
        await this.#writing;
      }
    };
    await Promise.race([written(), deadline]);
  }

  /** Lines of one millisecond share their time. */
  #now(): string {
    const now = Date.now();
    if (now !== this.#timeMs) {
      this.#timeMs = now;
      this.#time = new Date(now).toISOString();
    }
    return this.#time;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined || this.#held === '') return;
    const bytes = Buffer.from(this.#held);
    this.#held = '';
    this.#writing = writeAll(this.#fd, bytes).then(() => {
      this.#writing = undefined;
      if (this.#droppedUntold > 0) this.#onDropped?.(this.#droppedUntold);
      this.#droppedUntold = 0;
      if (this.#held.length > batchMax) this.#write();
      else if (this.#held !== '')
        this.#timer ??= setTimeout(() => this.#write(), this.#lingerMs).unref();
    });
  }
}

/** So many characters go at once, whatever the clock says. */
const batchMax = 32_768;

/** A reader that is gone takes the lines with it; one that is busy is asked again. */
async function writeAll(fd: number, bytes: Buffer): Promise<void> {
  let rest = bytes;
  while (rest.length > 0) {
    const written = await new Promise<number>((resolve) => {
      write(fd, rest, (error, count) => {
        if (error === null) resolve(count);
        else if (error.code === 'EAGAIN' || error.code === 'EBUSY')
          setTimeout(resolve, busyMs, 0).unref();
        else resolve(rest.length);
      });
    });
    rest = rest.subarray(written);
  }
}

const busyMs = 50;
