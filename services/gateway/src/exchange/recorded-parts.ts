import type { usage } from '@sluice/proto-stubs';
import type { UsageRecord } from '@sluice/usage';
import type { EndedAttempt } from './attempt.ts';
import type { PreparedCall } from './prepared-call.ts';
import type { Used } from './reservation.ts';

/** One usage record for an answer that several calls told parts of. */
export interface RecordedParts {
  /** A first part has broken off: what is called from here on belongs to its record. */
  readonly isOpen: boolean;
  /** The record of the first part, filled with what that came to; @param least what it was said to use at least */
  begin(record: UsageRecord, ended: EndedAttempt, least: Used | undefined): void;
  /** What a further call came to. Resolves when the record is kept, if this was the last part. */
  add(ended: EndedAttempt): Promise<void>;
  /** Its answer is what the caller reads. */
  isTold(call: PreparedCall): void;
  /** Keeps the record: nothing more follows. Of no effect when that was done. @param errorCode why it was denied */
  close(outcome: usage.Outcome, errorCode?: string): Promise<void>;
}
