import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { encodeFeedback } from './feedback.ts';

const text = fc.string({ unit: 'grapheme' });

it('feedback is read as it was written', () => {
  fc.assert(
    fc.property(
      fc.record({
        id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes)),
        organisationId: text,
        workspaceId: text,
        traceId: text,
        value: fc.integer({ min: -10, max: 10 }),
        weight: fc.double({ min: 0, max: 1, noNaN: true }),
        metadata: fc.dictionary(text, text),
        atMs: fc.nat(2 ** 31).map((seconds) => seconds * 1000),
      }),
      (feedback) => {
        const read = fromBinary(usage.FeedbackSchema, encodeFeedback(feedback));
        const { id, atMs, metadata, ...rest } = feedback;
        expect(read).toMatchObject({
          ...rest,
          createdAtMs: BigInt(atMs),
          changedAtMs: BigInt(atMs),
        });
        expect(Buffer.from(read.id).equals(id)).toBe(true);
        expect(new Map(Object.entries(read.metadata))).toEqual(new Map(Object.entries(metadata)));
        expect(read.$unknown).toBeUndefined();
      },
    ),
  );
});
