import type { EmbeddingRule } from '@sluice/engine';
import { type CheckContext, CheckError } from '../check.ts';

interface Topic {
  readonly name: string;
  readonly examples: readonly string[];
}

/**
 * How near the text is to the nearest example of each topic: a cosine.
 * @throws CheckError where nobody makes vectors
 */
export async function likenessOf(
  { embed, signal }: CheckContext,
  text: string,
  topics: readonly Topic[],
  rule: EmbeddingRule | undefined,
): Promise<Record<string, number>> {
  if (embed === undefined)
    throw new CheckError('NotSupported', 'Nobody here tells how similar texts are.');
  const pieces = piecesOf(text);
  if (pieces.length > piecesMax)
    throw new CheckError('TextTooLong', 'The text is too long to be compared with examples.');
  const vectors = await Promise.all(
    pieces.map((piece) => embed(piece, { rule, keep: false, signal })),
  );
  const likeness: Record<string, number> = {};
  for (const { name, examples } of topics) {
    const known = await Promise.all(
      examples.map((one) => embed(one, { rule, keep: true, signal })),
    );
    const best = Math.max(
      ...known.flatMap((example) => vectors.map((vector) => cosine(vector, example))),
    );
    if (known.length > 0) likeness[name] = Math.round(best * 1_000) / 1_000;
  }
  return likeness;
}

/** What is said of a topic is lost in a text that speaks of ten. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += pieceLength)
    pieces.push(text.slice(at, at + pieceLength));
  return pieces;
}

const pieceLength = 2_000;
/** Each is a call of a model. */
const piecesMax = 8;

/** Of vectors of length 1. */
function cosine(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length)
    throw new CheckError('HostFailed', 'Vectors of the text and its examples are not alike.');
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
