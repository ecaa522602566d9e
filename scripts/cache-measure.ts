/**
 * `npm run cache:measure`: what looking for the nearest of 100,000 questions in
 * memory takes, and how well a similarity tells questions that are the same
 * from those that are not. The second needs an embedding model of yours:
 * EMBEDDINGS_URL (OpenAI's format, `/embeddings` is appended),
 * EMBEDDINGS_MODEL, EMBEDDINGS_API_KEY and EMBEDDINGS_DIMENSIONS;
 * without them only the first is told.
 */
import { labelledPairs } from './cache/labelled-questions.ts';
import { atShare, type LookUps, measureLookUps } from './cache/measure-look-ups.ts';
import { type ScoredPair, scorePairs } from './cache/score-pairs.ts';

console.table({
  '10,000 questions': figuresOf(measureLookUps(10_000)),
  '100,000 questions': figuresOf(measureLookUps(100_000)),
});

const { EMBEDDINGS_URL: url, EMBEDDINGS_MODEL: model } = process.env;
if (url === undefined || model === undefined)
  console.log(
    `${labelledPairs.length} labelled pairs were not scored: set EMBEDDINGS_URL and EMBEDDINGS_MODEL.`,
  );
else await measureQuality(url, model);

function figuresOf({ ms, found, findable, bytes }: LookUps) {
  const at = (share: number) => atShare(ms, share).toFixed(2);
  return {
    'p50, ms': at(0.5),
    'p95, ms': at(0.95),
    'p99, ms': at(0.99),
    found: `${found} of ${findable}`,
    MB: Math.round(bytes / 1e6),
  };
}

async function measureQuality(base: string, name: string): Promise<void> {
  const texts = [...new Set(labelledPairs.flatMap(({ one, other }) => [one, other]))];
  const told = await embedAll(base, name, texts);
  const vectorOf = new Map(texts.map((text, at) => [text, told[at] ?? []]));
  const pairs = labelledPairs.map(
    (pair): ScoredPair => ({
      ...pair,
      similarity: cosine(vectorOf.get(pair.one) ?? [], vectorOf.get(pair.other) ?? []),
    }),
  );
  const thresholds = [0.8, 0.85, 0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99];
  console.log(`${pairs.length} pairs, ${name}; wrong answers by what makes a question another:`);
  console.table(
    thresholds.map((threshold) => {
      const { precision, recall, wrong } = scorePairs(pairs, threshold);
      return { threshold, precision: precision.toFixed(3), recall: recall.toFixed(3), ...wrong };
    }),
  );
}

async function embedAll(base: string, name: string, texts: readonly string[]): Promise<number[][]> {
  const { EMBEDDINGS_API_KEY: key, EMBEDDINGS_DIMENSIONS: size } = process.env;
  const response = await fetch(`${base.replace(/\/$/, '')}/embeddings`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify({
      model: name,
      input: texts,
      ...(size === undefined ? {} : { dimensions: Number(size) }),
    }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const { data } = (await response.json()) as { data: { index: number; embedding: number[] }[] };
  return [...data].sort((one, other) => one.index - other.index).map(({ embedding }) => embedding);
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
  return dot / (Math.hypot(...one) * Math.hypot(...other));
}
