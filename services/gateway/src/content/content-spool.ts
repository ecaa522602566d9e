import { closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, write } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { StoreListener } from '@sluice/object-store';
import type { ContentTaker } from './content-taker.ts';
import type { Holding, KeptContent } from './kept-content.ts';
import { EncodedLog, type HeaderRules } from './segment.ts';

/** Sends a segment to the log store. */
export interface SegmentSender {
  /** Resolves when all that the store takes of it is there, and the file is gone; `isAway` = not now, and all of it again. */
  send(path: string): Promise<Sent>;
  stop(): Promise<void>;
}

export interface Sent {
  readonly isAway: boolean;
  readonly stored: number;
  /** Those that the store will never take. */
  readonly refused: number;
  readonly refusedBecause?: string | undefined;
  /** Why it is left alone, in the words of its own; undefined = it is not. */
  readonly awayBecause?: string | undefined;
}

export interface ContentSpoolParts {
  readonly dir: string;
  /** On disk. */
  readonly bytesMax: number;
  /** In memory: what waits to be written counts with what is still being noted. */
  readonly holding: Holding;
  readonly headers: HeaderRules;
  readonly sender: SegmentSender;
  /** What is lost is told, and is counted. */
  readonly onLoss: (logs: number, because: LossCause, reason?: string) => void;
  readonly listener: StoreListener;
}

export type LossCause = 'memory' | 'spool-full' | 'disk' | 'refused';

interface Segment {
  readonly path: string;
  readonly bytes: number;
  readonly logs: number;
  readonly sinceMs: number;
}

/** A segment while it fills. */
interface Filling {
  readonly buffer: Buffer;
  used: number;
  logs: number;
  sinceMs: number;
}

/**
 * The content of logs between the request and the store. Nobody waits for it:
 * what comes is copied into one piece of memory, log after log, so that nothing
 * of a request outlives it; that is written down as a segment and sent from
 * there, the oldest first; where there is no room the oldest is dropped.
 */
export class ContentSpool implements ContentTaker {
  readonly #parts: ContentSpoolParts;
  readonly #batchBytes: number;
  #filling: Filling | undefined;
  /** Filled, the oldest first. */
  readonly #filled: Filling[] = [];
  #filledBytes = 0;
  #spare: Buffer | undefined;
  #flushing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #segments: Segment[] = [];
  #segmentBytes = 0;
  #next = 0;
  #sending: Promise<void> | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isStopping = false;
  stored = 0;
  isAway = false;
  #isAwayTold = false;

  constructor(parts: ContentSpoolParts) {
    this.#parts = parts;
    this.#batchBytes = Math.min(batchBytes, parts.holding.bytesMax >> 2);
  }

  get bytes(): number {
    return this.#segmentBytes + this.#filledBytes;
  }

  /** Unix ms of the oldest that is not in the store; 0 = all is. */
  get oldestAtMs(): number {
    return (this.#segments[0] ?? this.#filled[0] ?? this.#filling)?.sinceMs ?? 0;
  }

  /** Takes up what an earlier life left. */
  start(): void {
    const { dir } = this.#parts;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(dir).sort()) {
      const match = /^(\d+)-(\d+)\.logs$/.exec(name);
      if (match === null) continue;
      const path = join(dir, name);
      const { size, mtimeMs } = statSync(path);
      this.#note({ path, bytes: size, logs: Number(match[2]), sinceMs: mtimeMs });
      this.#next = Number(match[1]) + 1;
    }
    this.#send();
  }

  add(content: KeptContent): void {
    const { headers, holding } = this.#parts;
    const log = new EncodedLog(content, headers);
    const filling = this.#fillingFor(log.length, content.head.createdAtMs);
    log.writeTo(filling.buffer, filling.used);
    filling.used += log.length;
    filling.logs++;
    content.release();
    this.#hold(log.length);
    while (holding.bytes > holding.bytesMax && holding.dropOldest());
    if (this.#flushing !== undefined) return;
    if (this.#filled.length > 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), lingerMs);
  }

  #hold(bytes: number): void {
    this.#filledBytes += bytes;
    this.#parts.holding.bytes += bytes;
  }

  /** That which has room for so many bytes more. */
  #fillingFor(bytes: number, sinceMs: number): Filling {
    const filling = this.#filling;
    if (filling !== undefined) {
      if (filling.used + bytes <= filling.buffer.length && filling.logs < segmentLogs)
        return filling;
      this.#filled.push(filling);
    }
    const buffer =
      bytes > this.#batchBytes
        ? Buffer.allocUnsafeSlow(bytes)
        : (this.#spare ?? Buffer.allocUnsafeSlow(this.#batchBytes));
    if (buffer === this.#spare) this.#spare = undefined;
    this.#filling = { buffer, used: 0, logs: 0, sinceMs };
    return this.#filling;
  }

  /** The oldest that nobody writes: all logs that it has. */
  dropOldest(): boolean {
    const dropped = this.#takeOldest();
    if (dropped === undefined) return false;
    this.#letGo(dropped);
    this.#parts.onLoss(dropped.logs, 'memory');
    return true;
  }

  #takeOldest(): Filling | undefined {
    const filled = this.#filled.shift();
    if (filled !== undefined) return filled;
    const filling = this.#filling;
    this.#filling = undefined;
    return filling;
  }

  #letGo({ buffer, used }: Filling): void {
    this.#hold(-used);
    if (buffer.length === this.#batchBytes) this.#spare ??= buffer;
  }

  /** Writes down what is there and sends for at most so long; the rest is sent after the next start. */
  async stop(deadlineMs: number): Promise<void> {
    const until = performance.now() + deadlineMs;
    this.#isStopping = true;
    while (this.#filling !== undefined || this.#filled.length > 0 || this.#flushing !== undefined) {
      this.#flush();
      await this.#flushing;
    }
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#send();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, Math.max(0, until - performance.now()));
    await Promise.race([this.#sending, late]);
    clearTimeout(timer);
    this.#segments.length = 0;
    await this.#parts.sender.stop();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#flushing !== undefined) return;
    const oldest = this.#takeOldest();
    if (oldest === undefined) return;
    this.#flushing = this.#write(oldest).finally(() => {
      this.#flushing = undefined;
      if (this.#filled.length > 0) this.#flush();
      else if (this.#filling !== undefined)
        this.#timer ??= setTimeout(() => this.#flush(), lingerMs);
    });
  }

  async #write(batch: Filling): Promise<void> {
    const { dir, bytesMax, onLoss } = this.#parts;
    const { used: bytes, logs } = batch;
    const name = `${String(this.#next++).padStart(12, '0')}-${logs}.logs`;
    const path = join(dir, name);
    try {
      await writeSegment(path, batch.buffer, bytes);
    } catch {
      rmSync(path, { force: true });
      onLoss(logs, 'disk');
      return;
    } finally {
      this.#letGo(batch);
    }
    this.#note({ path, bytes, logs, sinceMs: Date.now() });
    while (this.#segmentBytes > bytesMax) {
      // The first is being sent while the store is there: then the next is the oldest that waits.
      const oldest = this.#segments.splice(this.#sending === undefined ? 0 : 1, 1)[0];
      if (oldest === undefined) break;
      this.#segmentBytes -= oldest.bytes;
      rmSync(oldest.path, { force: true });
      onLoss(oldest.logs, 'spool-full');
    }
    this.#send();
  }

  #note(segment: Segment): void {
    this.#segments.push(segment);
    this.#segmentBytes += segment.bytes;
  }

  #send(): void {
    if (this.#sending !== undefined || this.#retry !== undefined) return;
    this.#sending = this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    const { sender, onLoss } = this.#parts;
    for (;;) {
      const segment = this.#segments[0];
      if (segment === undefined) return;
      const sent = await sender.send(segment.path).catch(() => nothingSent);
      const { isAway, stored, refused, refusedBecause } = sent;
      this.isAway = isAway;
      this.#tell(sent);
      if (isAway) {
        if (!this.#isStopping)
          this.#retry = setTimeout(() => {
            this.#retry = undefined;
            this.#send();
          }, retryMs).unref();
        return;
      }
      this.stored += stored;
      if (refused > 0) onLoss(refused, 'refused', refusedBecause);
      if (this.#segments[0] === segment) {
        this.#segments.shift();
        this.#segmentBytes -= segment.bytes;
      }
    }
  }

  #tell({ isAway, awayBecause }: Sent): void {
    const { listener } = this.#parts;
    if (!this.#isAwayTold && awayBecause !== undefined) {
      this.#isAwayTold = true;
      listener.onAway(awayBecause);
    } else if (this.#isAwayTold && !isAway) {
      this.#isAwayTold = false;
      listener.onBack();
    }
  }
}

/** By one hop to the pool of threads: each wakes threads that want the core of the one that serves. */
async function writeSegment(path: string, buffer: Buffer, bytes: number): Promise<void> {
  const fd = openSync(path, 'w', 0o600);
  try {
    let at = 0;
    while (at < bytes) at += (await writeTo(fd, buffer, at, bytes - at)).bytesWritten;
  } finally {
    closeSync(fd);
  }
}

const writeTo = promisify(write);
const nothingSent: Sent = { isAway: true, stored: 0, refused: 0 };
/** So long the first of a segment waits for others. */
const lingerMs = 100;
/** Of one segment, which is read whole by who sends it; a log that is longer has one of its own. */
const batchBytes = 1024 * 1024;
const segmentLogs = 500;
const retryMs = 1_000;
