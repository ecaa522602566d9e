import type { GuardrailCheck } from '@sluice/contracts/admin';
import { needsCredentials } from '@sluice/guardrails';
import type { Database } from '../../kernel/database/client.ts';
import { checksInForce, findGuardrail } from './store.ts';

/**
 * Where the first check stands that asks a partner without credentials; undefined =
 * each has some. A config may say them for a saved guardrail; nobody does for one
 * that every request must pass, and it would pass everything.
 */
export function lackingCredentials(checks: readonly GuardrailCheck[]): number | undefined {
  const found = checks.findIndex(
    ({ id, parameters, is_enabled: isEnabled }) =>
      isEnabled && (parameters.credentials ?? undefined) === undefined && needsCredentials(id),
  );
  return found === -1 ? undefined : found;
}

/** The fault of a guardrail that is to be enforced; undefined = it may be. */
export async function faultOfEnforced(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<string | undefined> {
  const guardrail = await findGuardrail(db, organisationId, reference);
  if (guardrail === null) return undefined;
  const lacking = lackingCredentials(await checksInForce(db, guardrail));
  return lacking === undefined
    ? undefined
    : `has a check without credentials (checks[${lacking}]), which every request would pass`;
}
