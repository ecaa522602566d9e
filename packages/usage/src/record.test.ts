import { fromBinary, isFieldSet as isSet, ScalarType } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { emptyRecord, RecordEncoder, type UsageRecord } from './record.gen.ts';

/** One arbitrary value a field of the proto, by its kind: a field added there is covered here at once. */
function arbitraryRecord(): fc.Arbitrary<UsageRecord> {
  const fields: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of usage.UsageRecordSchema.fields) {
    const name = field.localName;
    if (field.fieldKind === 'map' && field.scalar === ScalarType.STRING)
      fields[name] = fc.dictionary(fc.string(), fc.string({ unit: 'grapheme' }));
    else if (field.fieldKind === 'map')
      fields[name] = fc
        .array(fc.tuple(countedName, fc.integer({ min: 0, max: 2 ** 51 })))
        .map((entries) => new Map(entries));
    // An empty text is no entry of a list that the ledger keeps.
    else if (field.fieldKind === 'list')
      fields[name] = fc.array(fc.string({ unit: 'grapheme', minLength: 1 }));
    else if (field.fieldKind === 'enum') fields[name] = fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 7, 8);
    else if (field.scalar === ScalarType.BYTES)
      fields[name] = fc
        .uint8Array({ minLength: 16, maxLength: 16 })
        .map((bytes) => Buffer.from(bytes));
    else fields[name] = scalar(String(field.scalar), name);
  }
  return fc.record(fields) as unknown as fc.Arbitrary<UsageRecord>;
}

/** Of any length: long ones need more than a byte to say how long they are. */
const countedName = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.string({ minLength: 100, maxLength: 140 }),
);

function scalar(kind: string, name: string): fc.Arbitrary<unknown> {
  const safe = fc.integer({ min: 0, max: 2 ** 51 });
  switch (kind) {
    case '9':
      return fc.string({ unit: 'grapheme', maxLength: 300 });
    case '8':
      return fc.boolean();
    case '1':
      return fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
    case '13':
      return fc.integer({ min: 0, max: 2 ** 32 - 1 });
    case '17':
      return fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    case '18':
      return fc.integer({ min: -(2 ** 50), max: 2 ** 50 });
    case '3':
    case '4':
      return safe;
    default:
      throw new Error(`${name}: no rule for scalar ${kind}`);
  }
}

/** 64-bit numbers are numbers in the gateway. */
function plain(read: unknown): unknown {
  if (typeof read === 'bigint') return Number(read);
  if (
    typeof read !== 'object' ||
    read === null ||
    read instanceof Uint8Array ||
    Array.isArray(read)
  )
    return read;
  return Object.fromEntries(Object.entries(read).map(([key, value]) => [key, plain(value)]));
}

describe('RecordEncoder', () => {
  it('writes every field so that the generated decoder reads it back', () => {
    const encoder = new RecordEncoder();
    fc.assert(
      fc.property(arbitraryRecord(), (record) => {
        const decoded = fromBinary(
          usage.UsageRecordSchema,
          encoder.encode(record),
        ) as unknown as Record<string, unknown>;
        for (const field of usage.UsageRecordSchema.fields) {
          const given = (record as unknown as Record<string, unknown>)[field.localName];
          const sent = given instanceof Map ? Object.fromEntries(given) : given;
          const read = plain(decoded[field.localName]);
          const { localName } = field;
          if (read instanceof Uint8Array)
            expect(Buffer.from(read).equals(sent as Buffer), localName).toBe(true);
          else if (typeof read === 'number')
            expect(read === sent || (read === 0 && sent === 0), localName).toBe(true);
          else expect(read, localName).toEqual(sent);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('says the same with an opening as without, and takes from the record only what may have changed', () => {
    const encoder = new RecordEncoder();
    const read = (bytes: Buffer) => fromBinary(usage.UsageRecordSchema, bytes);
    fc.assert(
      fc.property(arbitraryRecord(), arbitraryRecord(), (record, later) => {
        const opening = encoder.opening(record);
        expect(read(encoder.encode(record, opening))).toEqual(read(encoder.encode(record)));
        const ended = read(encoder.encode({ ...record, outcome: 1, errorCode: 'e' }));
        const sparse = { ...emptyRecord(), ...outcomeOf(record), outcome: 1, errorCode: 'e' };
        expect(read(encoder.encode(sparse, opening))).toEqual(ended);
        const other = read(encoder.encode(later, opening));
        expect([other.apiKeyId, other.errorCode]).toEqual([record.apiKeyId, later.errorCode]);
      }),
      { numRuns: 100 },
    );
  });

  /** What of it an opening does not hold. */
  function outcomeOf(record: UsageRecord): Partial<UsageRecord> {
    const opened = fromBinary(usage.UsageRecordSchema, new RecordEncoder().opening(record));
    const held = new Set(
      usage.UsageRecordSchema.fields
        .filter((field) => isSet(opened, field))
        .map(({ localName }) => localName as string),
    );
    return Object.fromEntries(Object.entries(record).filter(([name]) => !held.has(name)));
  }
});
