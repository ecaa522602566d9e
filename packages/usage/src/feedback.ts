import { usage } from '@sluice/proto-stubs';
import { ProtoWriter } from './proto-writer.ts';

/** What somebody thinks of a trace, when it is first said. */
export interface NewFeedback {
  readonly id: Buffer;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly traceId: string;
  /** An integer from -10 to 10. */
  readonly value: number;
  /** 0 to 1. */
  readonly weight: number;
  readonly metadata: Readonly<Record<string, string>>;
  /** Unix ms. */
  readonly atMs: number;
}

const fields = usage.FeedbackSchema.field;
const out = new ProtoWriter();

/** The body of an entry of kind `FEEDBACK`; valid until the next one is made. Guardrails write one a request each. */
export function encodeFeedback(feedback: NewFeedback): Buffer {
  out.reset();
  out.bytes(fields.id.number, feedback.id);
  out.text(fields.organisationId.number, feedback.organisationId);
  out.text(fields.workspaceId.number, feedback.workspaceId);
  out.text(fields.traceId.number, feedback.traceId);
  out.sint(fields.value.number, feedback.value);
  out.double(fields.weight.number, feedback.weight);
  const { metadata, atMs } = feedback;
  for (const key in metadata) out.pair(fields.metadata.number, key, metadata[key] ?? '');
  out.uint(fields.createdAtMs.number, atMs);
  out.uint(fields.changedAtMs.number, atMs);
  return out.written();
}
