import { create, toBinary } from '@bufbuild/protobuf';
import { ExportTraceServiceRequestSchema } from '@sluice/proto-stubs/otlp';
import { describe, expect, it } from 'vitest';
import { attributesOf } from './attributes.ts';
import { exceedsBounds } from './message-cost.ts';

const bytes = toBinary(
  ExportTraceServiceRequestSchema,
  create(ExportTraceServiceRequestSchema, {
    resourceSpans: [
      { scopeSpans: [{ spans: [{ name: 'a', attributes: attributesOf({ b: 1 }) }] }] },
    ],
  }),
);
const exceeds = (messagesMax: number, depthMax: number) =>
  exceedsBounds(ExportTraceServiceRequestSchema, bytes, { messagesMax, depthMax });

describe('exceedsBounds', () => {
  it('counts every message within the message, and how deep they lie', () => {
    // A resource's spans, a scope's spans, a span, an attribute and its value.
    expect([exceeds(5, 5), exceeds(4, 5), exceeds(5, 4)]).toEqual([false, true, true]);
  });

  it('takes no bytes for a message that ends beyond the one around it', () => {
    const cut = Uint8Array.of(10, 2, 18, 9, 1);
    expect(() =>
      exceedsBounds(ExportTraceServiceRequestSchema, cut, { messagesMax: 9, depthMax: 9 }),
    ).toThrow();
  });
});
