import type { EmbeddingRule } from '@sluice/engine';
import { CheckError, type EmbedText } from '@sluice/guardrails';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { Embedder, QuestionEmbedder } from './embed-question.ts';

/** Vectors for checks; those of examples are kept, for the workspace on whose account they were made. */
export class CheckEmbedder {
  readonly #embedder: QuestionEmbedder;
  readonly #kept = new Map<string, Float32Array>();

  constructor(embedder: QuestionEmbedder) {
    this.#embedder = embedder;
  }

  /** In the name of the caller of a request. */
  for(exchange: ModelExchange): EmbedText {
    return async (text, { rule, keep, signal }) => {
      const embedder = this.#embedderOf(rule);
      const workspaceId = exchange.bundle?.source.workspaceId ?? '';
      const key = keep ? `${workspaceId}|${embedder.name}|${text}` : '';
      const known = keep ? this.#kept.get(key) : undefined;
      if (known !== undefined) return known;
      const asking = { askedBy: 'guardrail', signal } as const;
      const vector = await this.#embedder.embed(exchange, embedder, text, asking);
      if (vector === undefined && signal.reason instanceof CheckError) throw signal.reason;
      if (vector === undefined)
        throw new CheckError('HostFailed', 'The embedding model gave no vector in time.');
      if (keep) this.#keep(key, vector);
      return vector;
    };
  }

  #embedderOf(rule: EmbeddingRule | undefined): Embedder {
    try {
      return this.#embedder.embedderOf(rule, 'parameters');
    } catch {
      // Nobody is named, and the operator has named nobody.
      throw new CheckError('InvalidParameters', 'parameters.embedding must say who makes vectors.');
    }
  }

  /** The oldest go: they are made again when they are asked for. */
  #keep(key: string, vector: Float32Array): void {
    if (this.#kept.size >= keptMax) {
      const [oldest = ''] = this.#kept.keys();
      this.#kept.delete(oldest);
    }
    this.#kept.set(key, vector);
  }
}

/** Some 12 MB of vectors of 1536 numbers. */
const keptMax = 2_000;
