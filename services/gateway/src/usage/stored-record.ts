import type { UsageRecord } from '@sluice/usage';

/** What whoever follows records is told of one beside its bytes. */
export type StoredRecord = Pick<UsageRecord, 'id' | 'entryId'>;

/** Hears of each record as it is stored; the bytes are valid during the call only. */
export type RecordFollower = (record: StoredRecord, bytes: Buffer) => void;
