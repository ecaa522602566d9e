import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import type { OwnerNote } from '../exchange/named-objects.ts';
import type { Outbox } from './outbox.ts';
import { uuidV7 } from './uuid.ts';

/** Whose an object is that a provider keeps: in the ledger for good, where gateways find it that saw nothing of it. */
export function recordStoredObject(
  outbox: Pick<Outbox, 'add' | 'isFull'>,
  organisationId: string,
  objectKey: string,
  note: OwnerNote,
): void {
  // What room is left belongs to attempts, which cost money.
  if (outbox.isFull) return;
  const nowMs = Date.now();
  const id = uuidV7(nowMs);
  const entry = create(usage.StoredObjectSchema, {
    id,
    organisationId,
    objectKey,
    ...note,
    notedAtMs: BigInt(nowMs),
  });
  const body = toBinary(usage.StoredObjectSchema, entry);
  void outbox.add(usage.EntryKind.STORED_OBJECT, id, body).catch(() => {
    // The disk refuses: `onLoss` has told, and nobody waits for this.
  });
}
