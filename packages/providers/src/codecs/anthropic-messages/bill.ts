import type { ChargedTokens, JsonObject, OtherModel, ReplyBill } from '@sluice/contracts';
import { countersIn } from '../../bills/charged-tools.ts';
import { countedUnits } from '../../bills/counted-units.ts';
import { servedTierOf } from '../../bills/served-tier.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { decodeUsage } from './wire.ts';

/**
 * What the usage of a message says of its price beside tokens. Fast calls are told
 * apart from the tier: https://platform.claude.com/docs/en/build-with-claude/fast-mode
 */
export function readBill(usage: JsonObject): ReplyBill {
  const tools = objectOf(usage.server_tool_use);
  const steps = (arrayOf(usage.iterations) ?? []).map((value) => objectOf(value) ?? {});
  return compact<ReplyBill>({
    servedTier: usage.speed === 'fast' ? 'fast' : servedTierOf(usage.service_tier),
    servedRegion: regionOf(usage.inference_geo),
    chargedTokens: chargedTokens(usage, steps),
    otherModels: otherModels(steps),
    units: tools === undefined ? undefined : countedUnits(countersIn(tools)),
  });
}

/** What shortened the conversation is charged, and not among the counts of the message. */
function chargedTokens(usage: JsonObject, steps: readonly JsonObject[]): ChargedTokens | undefined {
  const shortenings = steps.filter(({ type }) => type === 'compaction');
  if (shortenings.length === 0) return undefined;
  const charged = decodeUsage(usage);
  for (const counts of shortenings.map(decodeUsage)) {
    charged.inputTokens += counts.inputTokens;
    charged.outputTokens += counts.outputTokens;
    charged.cacheReadTokens += counts.cacheReadTokens;
    charged.cacheWriteTokens += counts.cacheWriteTokens;
    charged.cacheWrite1hTokens += counts.cacheWrite1hTokens;
  }
  return charged;
}

/**
 * The advisors of the model that answered. What a model used that declined before
 * another answered is not charged, and of the one that answered the message tells it all.
 */
function otherModels(steps: readonly JsonObject[]): readonly OtherModel[] | undefined {
  const advice = steps.filter(({ type }) => type === 'advisor_message').slice(0, advicesMax);
  if (advice.length === 0) return undefined;
  return advice.map((step) => ({ model: stringOf(step.model) ?? '', tokens: decodeUsage(step) }));
}

/** More than a message asks for: each is looked up in lists of prices. */
const advicesMax = 200;

function regionOf(value: unknown): string | undefined {
  const region = stringOf(value)?.toLowerCase();
  return region === '' || region === 'not_available' ? undefined : region;
}
