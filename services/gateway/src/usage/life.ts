import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { encodeEntry } from '@sluice/usage';
import type { Outbox } from './outbox.ts';
import type { SequenceNumbers } from './sequence-numbers.ts';
import { uuidV7 } from './uuid.ts';

const { EntryKind, LifeState } = usage;

export interface LifeParts {
  outbox: Outbox;
  numbers: Pick<SequenceNumbers, 'highest' | 'completeTo' | 'unused'>;
  replicaId: string;
  /** Of the outbox: a file there names the life that uses it. */
  dir: string;
}

/**
 * What a replica tells of itself, so that the ledger misses records also when
 * nothing follows them: how many it has recorded, with each batch, and its end.
 */
export class Life {
  readonly #parts: LifeParts;
  readonly #path: string;
  #state: usage.LifeState = LifeState.BEGUN;
  /** As of the last time that everything taken was written. */
  #written = 0;
  #sentTo = 0;

  constructor(parts: LifeParts) {
    this.#parts = parts;
    this.#path = join(parts.dir, 'life');
  }

  /** Tells the end of a life that could not tell its own, whose records this one sends. */
  begin(): void {
    const { outbox, replicaId } = this.#parts;
    const former = readName(this.#path);
    if (former !== undefined && former !== replicaId)
      void outbox
        .add(EntryKind.LIFE, uuidV7(Date.now()), body(former, LifeState.ENDED))
        .catch(noted);
    try {
      writeFileSync(this.#path, replicaId, { mode: 0o600 });
    } catch {
      // A disk that refuses stops no gateway: should this life be killed, it falls silent.
    }
  }

  /** Its own end, behind all its records. */
  end(): void {
    const { outbox, numbers, replicaId } = this.#parts;
    const told = body(
      replicaId,
      LifeState.ENDED,
      numbers.highest,
      numbers.completeTo,
      numbers.unused,
    );
    void outbox.add(EntryKind.LIFE, uuidV7(Date.now()), told).catch(noted);
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // The next life tells an end that was told already, which changes nothing.
    }
  }

  /** Writes what was taken; returns up to where records are complete once all of it is sent. */
  write(): number {
    const { outbox, numbers } = this.#parts;
    try {
      outbox.flush();
    } catch {
      // The disk refuses: nothing new can be promised.
      return this.#sentTo;
    }
    this.#written = numbers.highest;
    return numbers.completeTo;
  }

  sentTo(number: number): void {
    this.#sentTo = Math.max(this.#sentTo, number);
  }

  /** An entry to send beside records, as it travels. */
  tell(): Uint8Array {
    const { replicaId, numbers } = this.#parts;
    return encodeEntry(
      EntryKind.LIFE,
      body(replicaId, this.#state, this.#written, this.#sentTo, numbers.unused),
    );
  }

  /** The ledger has what was told. */
  told(): void {
    this.#state = LifeState.ALIVE;
  }
}

/** Told of one life; more are numbers that a disk refused, of which one is known already. */
const unusedMax = 1000;

function body(
  replicaId: string,
  state: usage.LifeState,
  sequence = 0,
  completeTo = 0,
  unused: readonly number[] = [],
): Uint8Array {
  return toBinary(
    usage.LifeSchema,
    create(usage.LifeSchema, {
      replicaId,
      state,
      sequence: BigInt(sequence),
      completeTo: BigInt(completeTo),
      unused: unused.slice(0, unusedMax).map(BigInt),
      atMs: BigInt(Date.now()),
    }),
  );
}

function readName(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The first life of this folder, or one after an orderly end.
    return undefined;
  }
}

/** A disk that refuses is told to those whose records it refuses. */
function noted(): void {}
