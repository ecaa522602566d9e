import { z } from 'zod';

/** Fields of the parameters of guardrail checks. */

export const text = z.string().min(1).max(8192);
export const texts = z.array(z.string().min(1).max(2048)).min(1).max(1000);
/** Turns the verdict. */
export const not = z.boolean().default(false);
export const flag = (absent: boolean) => z.boolean().default(absent);
export const allAnyNone = z.enum(['any', 'all', 'none']);
export const fraction = z.number().min(0).max(1).default(0.5);
export const timeoutMs = (absent: number) => z.number().min(1).max(600_000).default(absent);
export const count = (absent: number) => z.int().min(0).max(1_000_000_000).default(absent);
export const someOf = <const Choices extends readonly string[]>(choices: Choices) =>
  z.array(z.enum(choices)).max(100);

/** What is not named here is kept as it was sent. */
export const parameters = z.looseObject;
