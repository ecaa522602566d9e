import { addCounter, FirstValues, type Metrics, otherLabel } from '@sluice/telemetry';
import type { LineFacts } from './line-facts.ts';

const ends = ['completed', 'failed', 'expired', 'cancelled', 'left'] as const;

/** Who runs the lines: gateways, or a provider for the service. */
export type BatchType = 'custom' | 'provider';

/** A line that was answered, and is kept. */
export interface KeptLine {
  readonly isError: boolean;
  readonly facts?: LineFacts;
}

export interface BatchMetrics {
  readonly onLines: (type: BatchType, lines: readonly KeptLine[]) => void;
  /** @param providers  who answered its lines @param tookMs  since it was made */
  readonly onBatch: (type: BatchType, providers: ReadonlySet<string>, tookMs: number) => void;
  readonly onEnded: (end: (typeof ends)[number]) => void;
}

/** Providers that are told apart, as they come; and of each its types. */
const providersMax = 16;
const types: ReadonlySet<BatchType> = new Set(['custom', 'provider']);

/** What batches come to: as it was published once, and by the outcomes of lines and runs. */
export function batchMetrics({ registry }: Pick<Metrics, 'registry'>): BatchMetrics {
  const providers = new FirstValues(providersMax);
  const counter = (name: string, help: string) => {
    const family = addCounter(registry, name, help, {
      labels: { provider: providers, type: types },
      seriesMax: 2 * providersMax,
    });
    return (type: BatchType, provider: string | undefined, value: number) =>
      value > 0 && family.child({ provider: provider || otherLabel, type }).add(value);
  };
  const batches = counter(
    'batch_count',
    'Batches that ended; of several providers, or none, `other`',
  );
  const time = counter('batch_process_time', 'ms from the making of batches to their end');
  const rows = counter('batch_row_count', 'Lines of batches that were answered');
  const successes = counter('batch_success_row_count', 'Those whose answer is in the output file');
  const failures = counter('batch_failure_row_count', 'Those whose answer is in the error file');
  const cost = counter(
    'batch_cost',
    'USD, as gateways told them with answers; none of type `provider`: what those cost is recorded when their output is read, and stands in the ledger',
  );
  const input = counter('batch_input_tokens', 'Input tokens, as answers told them');
  const total = counter('batch_total_tokens', 'Tokens, input and output, as answers told them');
  const lines = addCounter(
    registry,
    'sluice_batch_lines_total',
    'Lines of batches, by what they came to.',
    { labels: { outcome: new Set(['completed', 'failed']) }, seriesMax: 2 },
  );
  const runs = addCounter(
    registry,
    'sluice_batch_runs_total',
    'Runs of batches by this replica, by how they ended; `left` go on elsewhere.',
    { labels: { end: new Set(ends) }, seriesMax: ends.length },
  );
  return {
    onLines(type, kept) {
      for (const { isError, facts } of kept) {
        const { provider, costUsd = 0, inputTokens = 0, totalTokens = 0 } = facts ?? {};
        lines.child({ outcome: isError ? 'failed' : 'completed' }).add(1);
        rows(type, provider, 1);
        (isError ? failures : successes)(type, provider, 1);
        cost(type, provider, costUsd);
        input(type, provider, inputTokens);
        total(type, provider, totalTokens);
      }
    },
    onBatch(type, answeredBy, tookMs) {
      const [provider] = answeredBy.size === 1 ? answeredBy : [];
      batches(type, provider, 1);
      time(type, provider, tookMs);
    },
    onEnded: (end) => runs.child({ end }).add(1),
  };
}
