/**
 * What goes into the ledger, as bytes: the record of an attempt with its
 * encoder, both generated from `proto/sluice/usage/v1/usage.proto`, feedback
 * of guardrails, whether an end may have cost something, and the tag that entries of other kinds carry.
 */
export {
  type EntryKind,
  encodeEntry,
  entryKindName,
  type LedgerEntry,
  readEntry,
} from './entry.ts';
export { encodeFeedback, type NewFeedback } from './feedback.ts';
export { afterSending, type HowItEnded, mayHaveUsed } from './may-have-used.ts';
export type { Counts } from './proto-writer.ts';
export { type BegunRecord, emptyRecord, RecordEncoder, type UsageRecord } from './record.gen.ts';
export { isUuid, uuidText } from './uuid-text.ts';
