import type { JsonObject, ReplyBill } from '@sluice/contracts';
import type { ToolUnit } from '../../bills/charged-tools.ts';
import { countedUnits } from '../../bills/counted-units.ts';
import { servedTierOf } from '../../bills/served-tier.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';

/** The tier is told beside the usage. https://docs.aws.amazon.com/bedrock/latest/userguide/service-tiers-inference.html */
export function readBill(body: JsonObject): ReplyBill {
  return compact<ReplyBill>({
    servedTier: servedTierOf(objectOf(body.serviceTier)?.type),
    units: unitsOf(objectOf(objectOf(body.output)?.message)),
  });
}

function unitsOf(message: JsonObject | undefined): ReplyBill['units'] {
  const uses: { [Unit in ToolUnit]?: number } = {};
  for (const block of arrayOf(message?.content) ?? []) {
    const unit = unitOfBlock(objectOf(block) ?? {});
    if (unit !== undefined) uses[unit] = (uses[unit] ?? 0) + 1;
  }
  return countedUnits(uses);
}

const unitOfType = new Map<string | undefined, ToolUnit>([
  ['nova_grounding_result', 'webSearches'],
  ['nova_code_interpreter_result', 'codeExecutions'],
]);

/**
 * Which of the model's own tools a block, or the start of one, shows to be used: one that failed is not charged.
 * https://docs.aws.amazon.com/nova/latest/nova2-userguide/web-grounding.html
 */
export function unitOfBlock({ toolResult }: JsonObject): ToolUnit | undefined {
  const result = objectOf(toolResult);
  return result?.status === 'error' ? undefined : unitOfType.get(stringOf(result?.type));
}
