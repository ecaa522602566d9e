import type { GuardrailCheck } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { CheckError, checkKinds } from '@sluice/guardrails';

/**
 * A check that cannot run, say by a pattern that is not valid, passes everything:
 * better said when it is written than when it is relied on.
 * @throws 400 at the first such check
 */
export function refuseBrokenChecks(checks: readonly GuardrailCheck[]): void {
  for (const [index, { id, parameters }] of checks.entries()) {
    try {
      checkKinds.get(id)?.compile(parameters);
    } catch (error) {
      if (!(error instanceof CheckError)) throw error;
      const path = ['parameters', error.parameter].filter((part) => part !== undefined).join('.');
      throw invalidField(`body.checks[${index}].${path}`, error.message);
    }
  }
}
