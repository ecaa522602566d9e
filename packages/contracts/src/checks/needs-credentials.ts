import type { CheckDeclaration } from './declaration.ts';
import { partnerChecks } from './families/partner-checks.ts';

const partners: Readonly<Record<string, CheckDeclaration>> = partnerChecks;

/** Whether a check asks a partner that answers nobody without credentials. */
export function needsCredentials(checkId: string): boolean {
  return Object.hasOwn(partners, checkId) && partners[checkId]?.isOpen !== true;
}
