import type { usage } from '@sluice/proto-stubs';
import { finite, type JsonRow, timestamp, uuid } from './column-values.ts';

export function feedbackRow(feedback: usage.Feedback): JsonRow {
  return {
    id: uuid(feedback.id, 'id'),
    organisation_id: feedback.organisationId,
    workspace_id: feedback.workspaceId,
    trace_id: feedback.traceId,
    value: feedback.value,
    weight: finite(feedback.weight),
    metadata: feedback.metadata,
    created_at: timestamp(feedback.createdAtMs, 'created_at_ms'),
    changed_at: timestamp(feedback.changedAtMs, 'changed_at_ms'),
  };
}
