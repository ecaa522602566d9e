import { readUsage, usageInMetadata } from '@sluice/a2a';

/** Tokens as a tool or an agent tells them, by the reader of `packages/a2a`. */
export interface ToldTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Something was told that cannot be true. */
  readonly isImplausible?: boolean;
}

/** More than any call uses, of a tool or of an agent; what says so is not believed. The one cap: `CallMeter` holds both to it. */
export const toldTokensMax = 10_000_000;

/** What a tool's result tells of itself: in `_meta` under `usage` or a key that ends in it, else in `structuredContent.usage`. */
export function usageInToolResult(result: unknown): ToldTokens | undefined {
  return (
    usageInMetadata(memberOf(result, '_meta')) ??
    readUsage(memberOf(memberOf(result, 'structuredContent'), 'usage'))
  );
}

function memberOf(value: unknown, name: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
