import type { ReplyFacts } from '@sluice/providers';
import { openUnpacking } from '../../http/content-coding.ts';
import type { PlainTap, Tap, TapEnd } from './tap.ts';

/** What a reply may unpack to and still be read: a few kilobytes may become gigabytes. */
const plainBytesMax = 64 * 1024 * 1024;
const pieceBytes = 64 * 1024;

/**
 * Unpacks a copy of a compressed reply while its bytes pass, and has what comes
 * out looked at, on threads beside the loop. What cannot be unpacked, or comes
 * to too much, is told as far as it was read.
 */
export class UnpackingTap implements Tap {
  readonly #tap: PlainTap;
  readonly #unpacking: ReturnType<typeof openUnpacking>;
  readonly #over = Promise.withResolvers<boolean>();
  #plainBytes = 0;
  #isOver = false;
  #lags = false;
  #onCaughtUp = () => {};

  constructor(tap: PlainTap, coding: string) {
    this.#tap = tap;
    this.#unpacking = openUnpacking(coding, { chunkSize: pieceBytes });
    this.#unpacking.on('data', (plain: Buffer) => this.#look(plain));
    this.#unpacking.on('drain', () => this.#catchUp());
    this.#unpacking.on('end', () => this.#stop(true));
    this.#unpacking.on('error', () => this.#stop(false));
  }

  add(chunk: Buffer): void {
    if (!this.#isOver) this.#lags = !this.#unpacking.write(chunk);
  }

  get lags(): boolean {
    return this.#lags;
  }

  onCaughtUp(listener: () => void): void {
    this.#onCaughtUp = listener;
  }

  async end(): Promise<TapEnd> {
    if (!this.#isOver) this.#unpacking.end();
    const isWhole = await this.#over.promise;
    const { facts, isComplete } = this.#tap.end();
    // Of what could not be read to its end nobody knows whether it was whole.
    return { facts, isComplete: isComplete || !isWhole };
  }

  get facts(): ReplyFacts | undefined {
    return this.#tap.facts;
  }

  #look(plain: Buffer): void {
    if (this.#isOver) return;
    this.#plainBytes += plain.length;
    if (this.#plainBytes <= plainBytesMax) this.#tap.add(plain);
    else this.#stop(false);
  }

  #stop(isWhole: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#unpacking.destroy();
    this.#over.resolve(isWhole);
    this.#catchUp();
  }

  #catchUp(): void {
    if (!this.#lags) return;
    this.#lags = false;
    this.#onCaughtUp();
  }
}
