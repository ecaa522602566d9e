import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeEntry, entryKindName, readEntry } from './entry.ts';
import { emptyRecord, RecordEncoder } from './record.gen.ts';

const { EntryKind } = usage;

/** Also kinds that only a later release knows. */
const kinds = [2, 3, 4, 5, 6, 7, 8, 200];

describe('entries', () => {
  it('come back with their kind and their bytes, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.uint8Array(), (kind, bytes) => {
        // A bare attempt is told by its beginning, which is that of a record.
        const body =
          kind === EntryKind.ATTEMPT ? Buffer.concat([Buffer.from([0x0a]), bytes]) : bytes;
        const read = readEntry(encodeEntry(kind, body));
        expect(read.kind).toBe(kind);
        expect(Buffer.from(read.body).equals(body)).toBe(true);
      }),
    );
  });

  it('that are attempts travel as the bare records that earlier releases send and read', () => {
    const record = new RecordEncoder().encode({ ...emptyRecord(), id: Buffer.alloc(16, 7) });
    expect(encodeEntry(EntryKind.ATTEMPT, record)).toBe(record);
    expect(readEntry(record)).toEqual({ kind: EntryKind.ATTEMPT, body: record });
    const empty = new Uint8Array();
    expect(readEntry(empty)).toEqual({ kind: EntryKind.ATTEMPT, body: empty });
  });

  it.each(kinds.slice(1))(
    'of kind %i are records without an id to an earlier release, which keeps those as rejects',
    (kind) => {
      const body = new RecordEncoder().encode({ ...emptyRecord(), id: Buffer.alloc(16, 7) });
      expect(fromBinary(usage.UsageRecordSchema, encodeEntry(kind, body)).id).toHaveLength(0);
    },
  );

  it('have a name, or their number', () => {
    expect(entryKindName(EntryKind.BODY_POINTER)).toBe('body-pointer');
    expect(entryKindName(200 as usage.EntryKind)).toBe('kind-200');
  });
});
