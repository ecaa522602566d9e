import type { usage } from '@sluice/proto-stubs';
import { UnfitRecord } from '../columns/unfit-record.ts';
import { type JsonRow, timestamp } from './column-values.ts';

const minuteMs = 60_000n;

export function lifeRow({
  replicaId,
  state,
  sequence,
  completeTo,
  unused,
  atMs,
}: usage.Life): JsonRow {
  if (replicaId === '') throw new UnfitRecord('replica_id is empty');
  return {
    replica_id: replicaId,
    minute: timestamp(atMs - (atMs % minuteMs), 'at_ms').slice(0, 'YYYY-MM-DD hh:mm:ss'.length),
    state,
    sequence: sequence.toString(),
    complete_to: completeTo.toString(),
    unused: unused.map(String),
    at: timestamp(atMs, 'at_ms'),
  };
}
