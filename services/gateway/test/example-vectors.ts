/** Vectors of length 1, the same in every run, and others at a cosine from them. */
export function exampleVectors(dimensions: number, seed = 1) {
  let state = seed;
  // A linear congruence is random enough for directions.
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24 - 0.5;
  };
  const unit = () => normalised(Float32Array.from({ length: dimensions }, random));
  const nearTo = (vector: Float32Array, cosine: number) => {
    const other = unit();
    const along = dot(vector, other);
    const across = normalised(other.map((value, at) => value - along * (vector[at] ?? 0)));
    const sine = Math.sqrt(1 - cosine * cosine);
    return vector.map((value, at) => cosine * value + sine * (across[at] ?? 0));
  };
  return { unit, nearTo };
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return vector.map((value) => value / length);
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}
