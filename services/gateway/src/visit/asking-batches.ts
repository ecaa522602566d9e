import type { VendorBatches } from '@sluice/providers';
import type { CallRules } from '../calls/prepare/call-rules.ts';
import type { OwnerNotes } from '../owners/owner-notes.ts';
import type { BatchBills } from './batch-bills.ts';
import type { TargetVisit } from './target-visit.ts';
import type { ContentPlace } from './vendor-place.ts';

/** What batches of providers need beside the call itself. */
export interface BatchParts {
  readonly batchBills: Pick<BatchBills, 'open'>;
  /** The content of a file that the service keeps. @throws GatewayError for one that is not this workspace's */
  readonly readStored: (workspaceId: string, id: string) => AsyncIterable<Buffer>;
  readonly owners: OwnerNotes;
}

export type BatchesOperation =
  | 'create'
  | 'retrieve'
  | 'list'
  | 'cancel'
  | 'output'
  | 'results'
  | 'message';

/** One operation of batches at one vendor. */
export interface AskingBatches extends ContentPlace {
  readonly batches: VendorBatches;
  readonly operation: BatchesOperation;
  /** Of the batch; empty = none is named. */
  readonly id: string;
  readonly visit: TargetVisit;
  readonly rules: CallRules & Partial<BatchParts>;
}
