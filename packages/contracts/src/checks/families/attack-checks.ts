import { z } from 'zod';
import type { CheckDeclaration } from '../declaration.ts';
import { not, parameters, someOf, subjectsOr } from '../parameter-fields.ts';

/** What speaks for an attempt to take a model away from its orders. */
export const injectionSignals = [
  'override',
  'prompt_leak',
  'persona',
  'no_refusal',
  'authority',
  'fiction',
  'template',
  'encoding',
  'decode_and_obey',
  'hidden_characters',
  'homoglyphs',
  'spelling',
  'exfiltration',
  'concealment',
  'addressed',
] as const;
export type InjectionSignal = (typeof injectionSignals)[number];

/** Checks that weigh what speaks for an attack. */
export const attackChecks = {
  'default.promptInjection': {
    parameters: parameters({
      /** From which score on it fails; absent: it only tells. */
      threshold: z.number().gt(0).max(1).optional(),
      signals: someOf(injectionSignals)
        .min(1)
        .default([...injectionSignals]),
      not,
      subjects: subjectsOr(['last_message', 'tool_results']),
    }).refine(
      ({ threshold, not }) => threshold !== undefined || !not,
      'has no verdict to turn without a threshold',
    ),
  },
} satisfies Record<string, CheckDeclaration>;
