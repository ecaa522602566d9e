import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentTaker } from './content-taker.ts';
import type { KeptContent } from './kept-content.ts';
import { encodeSegment, type HeaderRules } from './segment.ts';

/** Sends a segment to the log store. */
export interface SegmentSender {
  /** Resolves when all that the store takes of it is there; `isAway` = not now, and all of it again. */
  send(path: string): Promise<Sent>;
  stop(): Promise<void>;
}

export interface Sent {
  readonly isAway: boolean;
  readonly stored: number;
  /** Those that the store will never take. */
  readonly refused: number;
}

export interface ContentSpoolParts {
  readonly dir: string;
  /** On disk. */
  readonly bytesMax: number;
  readonly headers: HeaderRules;
  readonly sender: SegmentSender;
  /** What is lost is told, and is counted. */
  readonly onLoss: (logs: number, because: LossCause) => void;
}

export type LossCause = 'memory' | 'spool-full' | 'disk' | 'refused';

interface Segment {
  readonly path: string;
  readonly bytes: number;
  readonly logs: number;
  readonly sinceMs: number;
}

/**
 * The content of logs between the request and the store. Nobody waits for it:
 * what comes is written down in batches, segment by segment, and sent from
 * there, the oldest first; where there is no room the oldest is dropped.
 */
export class ContentSpool implements ContentTaker {
  readonly #parts: ContentSpoolParts;
  #queue: KeptContent[] = [];
  #queueBytes = 0;
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

  constructor(parts: ContentSpoolParts) {
    this.#parts = parts;
  }

  get bytes(): number {
    return this.#segmentBytes + this.#queueBytes;
  }

  /** Unix ms of the oldest that is not in the store; 0 = all is. */
  get oldestAtMs(): number {
    return this.#segments[0]?.sinceMs ?? this.#queue[0]?.head.createdAtMs ?? 0;
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
    this.#queue.push(content);
    this.#queueBytes += content.heldBytes;
    if (this.#queue.length > queuedMax) this.dropOldest();
    if (this.#flushing !== undefined) return;
    if (this.#queueBytes >= batchBytes) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), lingerMs);
  }

  dropOldest(): boolean {
    const dropped = this.#queue.shift();
    if (dropped === undefined) return false;
    this.#queueBytes -= dropped.heldBytes;
    dropped.release();
    this.#parts.onLoss(1, 'memory');
    return true;
  }

  /** Writes down what is there and sends for at most so long; the rest is sent after the next start. */
  async stop(deadlineMs: number): Promise<void> {
    const until = performance.now() + deadlineMs;
    this.#isStopping = true;
    while (this.#queue.length > 0 || this.#flushing !== undefined) {
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
    if (this.#flushing !== undefined || this.#queue.length === 0) return;
    const batch: KeptContent[] = [];
    for (let bytes = 0; bytes < segmentBytes && batch.length < segmentLogs; ) {
      const content = this.#queue.shift();
      if (content === undefined) break;
      bytes += content.heldBytes;
      batch.push(content);
    }
    this.#flushing = this.#write(batch).finally(() => {
      this.#flushing = undefined;
      if (this.#queue.length === 0) return;
      if (this.#queueBytes >= batchBytes) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), lingerMs);
    });
  }

  async #write(batch: readonly KeptContent[]): Promise<void> {
    const { dir, headers, bytesMax, onLoss } = this.#parts;
    const segment = encodeSegment(batch, headers);
    for (const content of batch) {
      this.#queueBytes -= content.heldBytes;
      content.release();
    }
    const name = `${String(this.#next++).padStart(12, '0')}-${batch.length}.logs`;
    const path = join(dir, name);
    try {
      await writeFile(path, segment, { mode: 0o600 });
    } catch {
      rmSync(path, { force: true });
      onLoss(batch.length, 'disk');
      return;
    }
    this.#note({ path, bytes: segment.length, logs: batch.length, sinceMs: Date.now() });
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
      const { isAway, stored, refused } = await sender.send(segment.path).catch(() => nothingSent);
      this.isAway = isAway;
      if (isAway) {
        if (!this.#isStopping)
          this.#retry = setTimeout(() => {
            this.#retry = undefined;
            this.#send();
          }, retryMs).unref();
        return;
      }
      this.stored += stored;
      if (refused > 0) onLoss(refused, 'refused');
      if (this.#segments[0] === segment) {
        this.#segments.shift();
        this.#segmentBytes -= segment.bytes;
      }
      await rm(segment.path, { force: true });
    }
  }
}

const nothingSent: Sent = { isAway: true, stored: 0, refused: 0 };
/** So long the first of a batch waits for others, and so much of a batch waits for nothing. */
const lingerMs = 100;
const batchBytes = 1024 * 1024;
/** Of one segment, which is read whole by who sends it. */
const segmentBytes = 4 * 1024 * 1024;
const segmentLogs = 500;
const queuedMax = 20_000;
const retryMs = 1_000;
