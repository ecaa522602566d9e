import {
  policyAmountFault,
  policyCreditMin,
  type UsageLimitsPolicyType,
} from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';

/**
 * @param blamed  the field to name when the two do not go together: the one that was sent
 * @throws 400 for a limit outside what this type of policy may grant, or an alert that would come too late
 */
export function requireAmounts(
  type: UsageLimitsPolicyType,
  creditLimit: number,
  alertThreshold: number | null,
  blamed: 'alert_threshold' | 'credit_limit',
): void {
  const least = policyCreditMin[type];
  if (creditLimit < least)
    throw invalidField('body.credit_limit', `must be at least ${least} for ${type}`);
  const fault = policyAmountFault(type, creditLimit);
  if (fault !== undefined) throw invalidField('body.credit_limit', fault);
  if (alertThreshold === null || alertThreshold < creditLimit) return;
  throw blamed === 'alert_threshold'
    ? invalidField('body.alert_threshold', 'must be below credit_limit')
    : invalidField('body.credit_limit', `must be above alert_threshold, ${alertThreshold}`);
}
