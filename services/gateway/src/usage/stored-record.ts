import type { UsageRecord } from '@sluice/usage';

/** What whoever follows records is told of one beside its bytes. */
export type StoredRecord = Pick<UsageRecord, 'id' | 'entryId'>;

/** Hears of what is stored; the bytes are valid during the call only. */
export interface RecordFollower {
  addRecord(record: StoredRecord, bytes: Buffer): void;
  /**
   * Of a hook that ended after the record of its attempt.
   * @param bytes a record that says which, and has the hook alone in its decision
   */
  addLateHook(bytes: Uint8Array): void;
}
