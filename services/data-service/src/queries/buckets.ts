import type { Range } from './filter.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Up to which range a bucket width is used. Each gives between 24 and 168 points at its upper end. */
const ladder = [
  { rangeMs: 2 * hourMs, widthMs: minuteMs },
  { rangeMs: 12 * hourMs, widthMs: 5 * minuteMs },
  { rangeMs: dayMs, widthMs: 15 * minuteMs },
  { rangeMs: 7 * dayMs, widthMs: hourMs },
  { rangeMs: 30 * dayMs, widthMs: 6 * hourMs },
  { rangeMs: 366 * dayMs, widthMs: dayMs },
] as const;

/** Longer ranges get whole days, as many as keep the points at about a year's. */
export function bucketWidthMs({ fromMs, toMs }: Range): number {
  const rangeMs = Math.max(0, toMs - fromMs);
  for (const step of ladder) if (rangeMs <= step.rangeMs) return step.widthMs;
  return Math.ceil(rangeMs / (366 * dayMs)) * dayMs;
}

/** The starts of all buckets that the range touches, oldest first; aligned to the Unix epoch, so days begin at UTC midnight. */
export function bucketStarts({ fromMs, toMs }: Range, widthMs: number): number[] {
  const starts: number[] = [];
  for (let start = Math.floor(fromMs / widthMs) * widthMs; start <= toMs; start += widthMs)
    starts.push(start);
  return fromMs > toMs ? [] : starts;
}
