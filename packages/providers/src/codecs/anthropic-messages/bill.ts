import type { JsonObject, ReplyBill } from '@sluice/contracts';
import { countedUnits } from '../../bills/counted-units.ts';
import { servedTierOf } from '../../bills/served-tier.ts';
import { compact, objectOf, stringOf } from '../../json/json-access.ts';

/**
 * What the usage of a message says of its price beside tokens. Fast calls are told
 * apart from the tier: https://platform.claude.com/docs/en/build-with-claude/fast-mode
 */
export function readBill(usage: JsonObject): ReplyBill {
  const tools = objectOf(usage.server_tool_use);
  return compact<ReplyBill>({
    servedTier: usage.speed === 'fast' ? 'fast' : servedTierOf(usage.service_tier),
    servedRegion: regionOf(usage.inference_geo),
    units:
      tools === undefined
        ? undefined
        : countedUnits({
            webSearches: tools.web_search_requests,
            codeExecutions: tools.code_execution_requests,
          }),
  });
}

function regionOf(value: unknown): string | undefined {
  const region = stringOf(value)?.toLowerCase();
  return region === '' || region === 'not_available' ? undefined : region;
}
