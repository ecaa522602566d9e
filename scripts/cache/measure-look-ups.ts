import { MemoryVectors } from '@sluice/gateway/vectors';

const dimensions = 1536;
const wanted = { atLeast: 0.95, countMax: 1 };
const partition = { organisationId: 'measured', key: 'all' };
/** Clocks of CPU time tick in milliseconds. */
const batch = 10;

export interface LookUps {
  /** CPU of this process for one look-up, of each batch, ascending. */
  readonly ms: readonly number[];
  /** Of so many that had a neighbour, how many were found. */
  readonly found: number;
  readonly findable: number;
  readonly bytes: number;
}

/** Looks for the nearest of so many questions: half of those asked have a neighbour at 0.96. */
export function measureLookUps(count: number): LookUps {
  const vectors = new MemoryVectors({ dimensions, bytesMax: 1024 ** 3, entriesMax: count });
  const { unit, nearTo } = randomVectors(dimensions);
  const kept: Float32Array[] = [];
  for (let at = 0; at < count; at++) {
    const vector = unit();
    vectors.add(partition, String(at), vector, 3_600_000);
    if (at % Math.ceil(count / 1000) === 0) kept.push(vector);
  }
  const asked = kept.flatMap((vector) => [nearTo(vector, 0.96), unit()]);
  let found = 0;
  const ms: number[] = [];
  for (let from = 0; from < asked.length; from += batch) {
    const together = asked.slice(from, from + batch);
    const before = process.cpuUsage();
    for (const vector of together) found += vectors.near(partition, vector, wanted).length;
    const { user, system } = process.cpuUsage(before);
    ms.push((user + system) / together.length / 1000);
  }
  ms.sort((one, other) => one - other);
  return { ms, found, findable: kept.length, bytes: vectors.bytes };
}

/** Of ascending numbers the one below which this share lies. */
export function atShare(ascending: readonly number[], share: number): number {
  return ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
}

/** Directions at random, and others at a cosine from them. */
function randomVectors(size: number) {
  const normalised = (vector: Float32Array) => {
    const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
    return vector.map((value) => value / length);
  };
  const unit = () => normalised(Float32Array.from({ length: size }, () => Math.random() - 0.5));
  const nearTo = (vector: Float32Array, cosineWanted: number) => {
    const other = unit();
    const along = vector.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
    const across = normalised(other.map((value, at) => value - along * (vector[at] ?? 0)));
    const sine = Math.sqrt(1 - cosineWanted ** 2);
    return vector.map((value, at) => cosineWanted * value + sine * (across[at] ?? 0));
  };
  return { unit, nearTo };
}
