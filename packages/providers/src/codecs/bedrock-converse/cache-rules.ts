import { type CacheRules, claudeCacheMarks, noCacheMarks } from '../fit-cache-marks.ts';
import type { BedrockModel, Family } from './models.ts';

/**
 * Which models keep prefixes, and which of them for an hour.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html, November 2026.
 */
export function cacheRulesOf({ name }: BedrockModel, family: Family): CacheRules {
  switch (family.cachePoints) {
    case 'unknown':
      return claudeCacheMarks;
    case 'messages':
      return { ...claudeCacheMarks, onTools: false, anHour: false };
    case 'all':
      if (keepsNothing.test(name)) return noCacheMarks;
      return keepsFiveMinutes.test(name)
        ? { ...claudeCacheMarks, anHour: false }
        : claudeCacheMarks;
    default:
      return noCacheMarks;
  }
}

const keepsNothing = /claude-(?:v?[12]\b|instant|3-(?:opus|sonnet|haiku)|3-5-sonnet-20240620)/;
const keepsFiveMinutes = /claude-(?:3-|(?:opus|sonnet)-4(?:-1)?(?:-\d{8}|$))/;
