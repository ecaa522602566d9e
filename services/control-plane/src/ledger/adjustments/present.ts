import type { AnswerOf } from '@sluice/contracts/admin';
import type { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { instant } from '../../kernel/http/shapes.ts';
import { centsOf } from '../logs/record-parts.ts';

export function presentAdjustment(
  adjustment: usage.Adjustment,
): AnswerOf<'ledger.adjustments.create'> {
  const { author, priceBookVersion } = adjustment;
  return {
    id: uuidText(adjustment.id),
    record_id: uuidText(adjustment.recordId),
    workspace_id: adjustment.workspaceId,
    created_at: instant(new Date(Number(adjustment.createdAtMs))),
    record_created_at: instant(new Date(Number(adjustment.attemptCreatedAtMs))),
    cost: centsOf(adjustment.costNanoUsd),
    input_tokens: Number(adjustment.inputTokens),
    output_tokens: Number(adjustment.outputTokens),
    reason: adjustment.reason,
    author: author === '' ? null : author,
    price_version: priceBookVersion === '' ? null : priceBookVersion,
    object: 'ledger-adjustment',
  };
}
