import type { ChatUsage } from '@sluice/contracts';

/** Of a count that cannot be one, callers are told nothing. */
export function shownCount(count: number | undefined): number {
  return count !== undefined && count > 0 ? count : 0;
}

/** The same of all counts; mostly the very same. */
export function shownUsage(usage: ChatUsage): ChatUsage {
  let shown = usage;
  for (const name in usage) {
    const kind = name as keyof ChatUsage;
    if (!Number.isNaN(usage[kind])) continue;
    if (shown === usage) shown = { ...usage };
    shown[kind] = 0;
  }
  return shown;
}
