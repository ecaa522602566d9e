import type { CoreRows } from './bundle-rows.ts';

/** The guardrails that every request of a workspace must pass: the organisation's, then its own, each once. */
export function enforcedGuardrails({
  inputGuardrails,
  outputGuardrails,
  skipsInputGuardrails,
  skipsOutputGuardrails,
  organisation,
}: Pick<
  CoreRows['workspace'],
  | 'inputGuardrails'
  | 'outputGuardrails'
  | 'skipsInputGuardrails'
  | 'skipsOutputGuardrails'
  | 'organisation'
>) {
  const ofOrganisation = (slugs: readonly string[], isExempt: boolean) => (isExempt ? [] : slugs);
  return {
    enforcedInputGuardrails: [
      ...new Set([
        ...ofOrganisation(organisation.inputGuardrails, skipsInputGuardrails),
        ...inputGuardrails,
      ]),
    ],
    enforcedOutputGuardrails: [
      ...new Set([
        ...ofOrganisation(organisation.outputGuardrails, skipsOutputGuardrails),
        ...outputGuardrails,
      ]),
    ],
  };
}
