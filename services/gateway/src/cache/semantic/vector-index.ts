/** Whose vectors: questions of one partition differ in their words alone. */
export interface Partition {
  readonly organisationId: string;
  readonly key: string;
}

export interface Neighbour {
  /** Under which its answer is kept, in this partition. */
  readonly id: string;
  /** The cosine. */
  readonly similarity: number;
}

/**
 * Vectors of the questions whose answers are kept. All are of length 1. One
 * that cannot be asked holds none: nothing here throws or rejects.
 */
export interface VectorIndex {
  /** The nearest first, none below `atLeast`, at most `countMax`. */
  near(
    partition: Partition,
    vector: Float32Array,
    wanted: { atLeast: number; countMax: number },
  ): readonly Neighbour[] | Promise<readonly Neighbour[]>;
  /** Takes the place of what has this id. Nobody waits for it. */
  add(partition: Partition, id: string, vector: Float32Array, ttlMs: number): void;
  forget(partition: Partition, id: string): void;
}
