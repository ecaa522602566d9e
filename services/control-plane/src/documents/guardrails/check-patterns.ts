import type { GuardrailCheck } from '@sluice/contracts/admin';
import { compileSafeRegex } from '@sluice/engine';
import { invalidField } from '@sluice/errors';

/**
 * A pattern that cannot run makes a check that passes everything: better said
 * when it is written than when it is relied on.
 * @throws 400 at the first such pattern
 */
export function refuseBrokenPatterns(checks: readonly GuardrailCheck[]): void {
  for (const [index, { id, parameters }] of checks.entries()) {
    if (id !== 'default.regexMatch') continue;
    const result = compileSafeRegex(String(parameters.rule), '');
    if (!result.ok)
      throw invalidField(`body.checks[${index}].parameters.rule`, `the pattern ${result.fault}`);
  }
}
