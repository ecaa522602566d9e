import type { ClickHouseClient } from '@clickhouse/client';
import type { InsertBlock } from '../columns/native-block.ts';
import type { Questions } from '../queries/questions.ts';

export interface ClickHouse {
  /** For jobs, and for what gateways ask while a caller waits. */
  readonly client: ClickHouseClient;
  /** For what is stored, and what must be known for it: no question and no job is before it. */
  readonly intake: ClickHouseClient;
  readonly questions: Questions;
  readonly insertBlock: InsertBlock;
  /** Waits until what is asked has all that was stored before; at once where there are no replicas. */
  readonly catchUp: () => Promise<void>;
  /** Waits for what the engine still computes; afterwards its folder is free. */
  close(): Promise<void>;
}
