import type { usage } from '@sluice/proto-stubs';
import { type JsonRow, timestamp, uuid } from './column-values.ts';

export function adjustmentRow(adjustment: usage.Adjustment): JsonRow {
  return {
    id: uuid(adjustment.id, 'id'),
    record_id: uuid(adjustment.recordId, 'record_id'),
    organisation_id: adjustment.organisationId,
    workspace_id: adjustment.workspaceId,
    attempt_created_at: timestamp(adjustment.attemptCreatedAtMs, 'attempt_created_at_ms'),
    created_at: timestamp(adjustment.createdAtMs, 'created_at_ms'),
    cost_nano_usd: adjustment.costNanoUsd.toString(),
    input_cost_nano_usd: adjustment.inputCostNanoUsd.toString(),
    output_cost_nano_usd: adjustment.outputCostNanoUsd.toString(),
    makes_known: adjustment.makesKnown,
    price_layer: adjustment.priceLayer,
    price_book_version: adjustment.priceBookVersion,
    reason: adjustment.reason,
    author: adjustment.author,
    input_tokens: adjustment.inputTokens.toString(),
    output_tokens: adjustment.outputTokens.toString(),
  };
}
