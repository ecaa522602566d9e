import { z } from 'zod';
import { openObject } from '../fields/kept-only.ts';
import { forwardedHeaderFault } from './forwarded-headers.ts';
import { type CheckSubject, checkSubjects } from './subjects.ts';

/** Fields of the parameters of guardrail checks. */

/** Wider than any rule that was met: a check that its config's author relies on must not be too long to run. */
const textLengthMax = 65_536;
const textsMax = 10_000;

export const text = z.string().min(1).max(textLengthMax);
export const anyText = z.string().max(textLengthMax);
export const texts = z.array(text).min(1).max(textsMax);
/** Absent reads as empty: nothing is asked for. */
export const optionalTexts = z.array(anyText).max(textsMax).nullish();
/** Turns the verdict. */
export const not = z.boolean().default(false);
export const flag = (absent: boolean) => z.boolean().default(absent);
export const allAnyNone = z.enum(['any', 'all', 'none']);
export const fraction = z.number().min(0).max(1).default(0.5);
export const timeoutMs = (absent: number) => z.number().min(1).max(600_000).default(absent);
export const count = (absent: number) => z.int().default(absent);
export const someOf = <const Choices extends readonly string[]>(choices: Choices) =>
  z.array(z.enum(choices)).max(100);

/** What of a body the check looks at, where it is not said. */
export const subjectsOr = (absent: CheckSubject[]) =>
  z.array(z.enum(checkSubjects)).min(1).max(checkSubjects.length).default(absent);
export const subjects = subjectsOr(['last_message']);

/** Headers of the caller that the check sends on to the host it asks. */
export const forwardHeaders = z
  .array(
    z.string().superRefine((name, context) => {
      const fault = forwardedHeaderFault(name);
      if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
    }),
  )
  .max(50)
  .optional();

/** What whoever runs a check reads of any: a value of another type reads as absent. */
const ofEveryCheck = {
  timeout: z.unknown().optional(),
  timeoutMs: z.unknown().optional(),
  failOnError: z.unknown().optional(),
  soft_deny_200: z.unknown().optional(),
};

/**
 * What is not named here is kept as it was sent, and whoever saves it is warned. A parameter that is null reads
 * as absent: clients write out what was not set.
 */
export const parameters = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.preprocess(withoutNulls, openObject({ ...ofEveryCheck, ...shape }));

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  const given = entries.filter(([, item]) => item !== null);
  return given.length === entries.length ? value : Object.fromEntries(given);
}

/** True where no item stands in both lists: it could neither pass nor fail. */
export function areApart(
  first: readonly unknown[] | null | undefined,
  second: readonly unknown[] | null | undefined,
): boolean {
  return !first?.some((item) => second?.includes(item));
}
