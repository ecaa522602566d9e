import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { servedTierOf } from '../../bills/served-tier.ts';
import { compact, objectOf } from '../../json/json-access.ts';

/** The tier is told beside the usage. https://docs.aws.amazon.com/bedrock/latest/userguide/service-tiers-inference.html */
export function readBill(body: JsonObject): ReplyBill {
  return compact<ReplyBill>({ servedTier: servedTierOf(objectOf(body.serviceTier)?.type) });
}
