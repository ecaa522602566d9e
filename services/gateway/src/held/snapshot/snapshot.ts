import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '@sluice/telemetry';
import { ContentReader, contentEntries } from './content.ts';
import { decodeEntries, type Entry, encodeEntry, type SnapshotContent } from './entries.ts';
import { readReleaseBefore } from './release-before.ts';
import { frameOverheadBytes, SealedFrames } from './sealed-frames.ts';

export interface SnapshotOptions {
  /** A folder of its own. */
  dir: string;
  key: Buffer;
  /** Further keys that it may be encrypted with, while the key is rotated. */
  keysAlso?: readonly Buffer[];
  logger: Pick<Logger, 'error'>;
  /** Where a gateway of the release before kept its own. */
  releaseBefore: string;
  /** A log that is longer, and longer than its base, is written into a new base. */
  logBytesMax?: number;
}

/** Bytes encoded and encrypted at a time: between two of them requests get their turn. */
const frameBytes = 64 * 1024;
const writeAfterMs = 200;

/**
 * The last good configuration on disk: a base file with everything that was
 * held, and a log with what has changed since, so that a change costs what it is
 * long and not what is held. `7.log` continues `7.base`. A log that has grown
 * long makes a new base, which begins with a log of its own: what changes while
 * the base is written stands in that. At each moment the newest complete base
 * and the logs from its number on are everything, wherever the process dies.
 *
 * Keys are held by hash: the files, even decrypted, give nobody a caller's key;
 * provider credentials they do hold, hence the encryption.
 */
export class Snapshot {
  readonly #options: Required<SnapshotOptions>;
  readonly #keys: readonly Buffer[];
  /** What a base is written from. */
  content: () => SnapshotContent = () => ({
    keys: [],
    bundles: [],
    organisations: [],
    keysMark: '',
  });
  #waiting: Iterable<Entry>[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #number = 0;
  #log: { file: FileHandle; frames: SealedFrames } | undefined;
  #logBytes = 0;
  #baseBytes = 0;
  /** What is on disk is not what was noted: only a new base mends that. */
  #needsBase = false;
  #isOfOtherKey = false;

  constructor(options: SnapshotOptions) {
    this.#options = { logBytesMax: 8 * 1024 * 1024, keysAlso: [], ...options };
    this.#keys = [this.#options.key, ...this.#options.keysAlso];
  }

  /** What was held; nothing when there is none. `reason` says why some of it cannot be used. */
  async load(): Promise<{ content?: SnapshotContent; reason?: string }> {
    await mkdir(this.#options.dir, { recursive: true, mode: 0o700 });
    const numbers = await this.#numbers();
    this.#number = Math.max(0, ...numbers.base, ...numbers.log);
    if (numbers.base.length + numbers.log.length === 0) return this.#loadReleaseBefore();
    const reader = new ContentReader();
    const base = await this.#readNewestBase(numbers.base, reader);
    const isDamaged = base === undefined && numbers.base.length > 0;
    let read = 0;
    let isCut = false;
    for (const number of numbers.log.filter((each) => each >= (base ?? 0))) {
      const log = await this.#readFile(`${number}.log`, reader);
      read += log.entries;
      isCut ||= log.isCut;
      this.#logBytes += log.bytes;
    }
    // Files are written anew where they are many, or some of them is of no use.
    this.#needsBase = isDamaged || isCut || numbers.log.length > 4 || this.#isOfOtherKey;
    if (this.#isOfOtherKey) this.note([]);
    if (base === undefined && read === 0)
      return { reason: 'damaged, or written under another SNAPSHOT_KEY' };
    const { content } = reader;
    return isDamaged ? { content, reason: 'a part of it is damaged' } : { content };
  }

  /** To be written soon, after all that was noted before. Read only then, and so must not change any more. */
  note(entries: Iterable<Entry>): void {
    this.#waiting.push(entries);
    this.#timer ??= setTimeout(() => void this.flush(), writeAfterMs);
  }

  /** Writes what waits. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    await this.#log?.file.close();
    this.#log = undefined;
  }

  async #write(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    if (waiting.length === 0 && !this.#needsBase) return;
    try {
      // A base has them already.
      if (!this.#needsBase) await this.#append(waiting);
      const isLong = this.#logBytes > Math.max(this.#options.logBytesMax, this.#baseBytes);
      if (isLong || this.#needsBase) await this.#writeBase();
    } catch (error) {
      this.#needsBase = true;
      this.#options.logger.error({ err: error }, 'the snapshot could not be written');
    }
  }

  async #append(waiting: readonly Iterable<Entry>[]): Promise<void> {
    this.#log ??= await this.#openLog(this.#number + 1);
    const { file, frames } = this.#log;
    for (const frame of framesOf(flattened(waiting), frames)) {
      await file.appendFile(frame);
      this.#logBytes += frame.length;
    }
    await file.datasync();
  }

  async #writeBase(): Promise<void> {
    const { dir, releaseBefore } = this.#options;
    await this.#log?.file.close();
    this.#log = undefined;
    this.#log = await this.#openLog(this.#number + 1);
    const number = this.#number;
    const name = `${number}.base`;
    const file = await open(join(dir, `${name}.tmp`), 'w', 0o600);
    let bytes = 0;
    try {
      const entries = flattened([contentEntries(this.content()), [{ kind: 'end' }]]);
      for (const frame of framesOf(entries, new SealedFrames(this.#keys, name))) {
        await file.appendFile(frame);
        bytes += frame.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(join(dir, `${name}.tmp`), join(dir, name));
    this.#needsBase = false;
    this.#baseBytes = bytes;
    this.#logBytes = 0;
    await rm(releaseBefore, { force: true });
    await this.#removeBefore(number);
  }

  async #openLog(number: number): Promise<{ file: FileHandle; frames: SealedFrames }> {
    const name = `${number}.log`;
    const file = await open(join(this.#options.dir, name), 'w', 0o600);
    this.#number = number;
    return { file, frames: new SealedFrames(this.#keys, name) };
  }

  async #loadReleaseBefore(): Promise<{ content?: SnapshotContent; reason?: string }> {
    const { releaseBefore, key } = this.#options;
    const loaded = await readReleaseBefore(releaseBefore, key);
    this.#needsBase = loaded.content !== undefined;
    return loaded;
  }

  /** A base that was never completed is none. */
  async #readNewestBase(
    numbers: readonly number[],
    reader: ContentReader,
  ): Promise<number | undefined> {
    for (const number of numbers.toReversed()) {
      const { isComplete, bytes } = await this.#readFile(`${number}.base`, reader);
      this.#baseBytes = bytes;
      if (isComplete) return number;
    }
    return undefined;
  }

  async #readFile(name: string, reader: ContentReader) {
    const bytes = await readFile(join(this.#options.dir, name));
    let entries = 0;
    let isComplete = false;
    let read = 0;
    const frames = new SealedFrames(this.#keys, name);
    for (const frame of frames.open(bytes)) {
      read += frame.length + frameOverheadBytes;
      for (const entry of decodeEntries(frame)) {
        reader.read(entry);
        entries += 1;
        isComplete = entry.kind === 'end';
      }
    }
    const isCut = read < bytes.length;
    reader.endFile(isCut);
    this.#isOfOtherKey ||= frames.isOfOtherKey;
    return { entries, isComplete, isCut, bytes: bytes.length };
  }

  /** What is there, the oldest first. */
  async #numbers(): Promise<{ base: number[]; log: number[] }> {
    const found = { base: [] as number[], log: [] as number[] };
    for (const name of await readdir(this.#options.dir)) {
      const [, number, kind] = /^(\d+)\.(base|log)$/.exec(name) ?? [];
      if (kind === 'base' || kind === 'log') found[kind].push(Number(number));
    }
    found.base.sort((a, b) => a - b);
    found.log.sort((a, b) => a - b);
    return found;
  }

  async #removeBefore(number: number): Promise<void> {
    const numbers = await this.#numbers();
    for (const kind of ['base', 'log'] as const)
      for (const each of numbers[kind])
        if (each < number) await rm(join(this.#options.dir, `${each}.${kind}`), { force: true });
  }
}

function* framesOf(entries: Iterable<Entry>, frames: SealedFrames): Generator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for (const entry of entries) {
    const encoded = encodeEntry(entry);
    waiting.push(encoded);
    bytes += encoded.length;
    if (bytes < frameBytes) continue;
    yield frames.seal(Buffer.concat(waiting));
    waiting = [];
    bytes = 0;
  }
  if (bytes > 0) yield frames.seal(Buffer.concat(waiting));
}

function* flattened(lists: Iterable<Iterable<Entry>>): Generator<Entry> {
  for (const list of lists) yield* list;
}
