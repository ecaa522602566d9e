import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { ProtoWriter } from './proto-writer.ts';

export type EntryKind = usage.EntryKind;

/** One fact of the ledger. What the body holds depends on the kind, which may be newer than this program. */
export interface LedgerEntry {
  kind: EntryKind;
  body: Uint8Array;
}

/** An entry as it travels: attempts bare, as they always did, every other kind with its tag. */
export function encodeEntry(kind: EntryKind, body: Uint8Array): Uint8Array {
  if (kind === usage.EntryKind.ATTEMPT) return body;
  tagged.reset();
  tagged.uint(fields.kind.number, kind);
  tagged.bytes(fields.body.number, body);
  return Buffer.from(tagged.written());
}

const fields = usage.UsageEntrySchema.field;
const tagged = new ProtoWriter();

/** @throws Error for a tag that nothing readable follows */
export function readEntry(bytes: Uint8Array): LedgerEntry {
  if (!hasTag(bytes)) return { kind: usage.EntryKind.ATTEMPT, body: bytes };
  const { kind, body } = fromBinary(usage.UsageEntrySchema, bytes);
  return { kind, body };
}

/** `TOOL_CALL` → `tool-call`; a kind that is newer than this program has its number only. */
export function entryKindName(kind: EntryKind): string {
  const name: string | undefined = usage.EntryKind[kind];
  return name === undefined ? `kind-${kind}` : name.toLowerCase().replaceAll('_', '-');
}

/** A tagged entry begins with its kind, and no encoder begins a UsageRecord with field 1000. */
function hasTag(bytes: Uint8Array): boolean {
  return bytes[0] === 0xc0 && bytes[1] === 0x3e;
}
