import type { z } from 'zod';

/** For `superRefine`: of each pair of fields that are both there, the second is no less than the first. Else nothing could be between them. */
export function inOrder(...pairs: readonly (readonly [from: string, to: string])[]) {
  return (said: object, context: z.core.$RefinementCtx): void => {
    const values = said as Readonly<Record<string, number | string | Date | undefined>>;
    for (const [from, to] of pairs) {
      const [least, most] = [values[from], values[to]];
      if (least === undefined || most === undefined || least <= most) continue;
      const word = typeof least === 'number' ? 'below' : 'before';
      context.addIssue({ code: 'custom', path: [to], message: `must not be ${word} ${from}` });
    }
  };
}

/** What lists of requests are narrowed to, each from least to most. */
export const requestRanges = [
  'time_of_generation',
  'total_units',
  'prompt_token',
  'completion_token',
  'cost',
  'weighted_feedback',
].map((name) => [`${name}_min`, `${name}_max`] as const);
