import type { ToolPolicy, ToolPrices } from '@sluice/contracts';
import { compileToolRules } from '@sluice/engine';
import { GatewayError, invalidField } from '@sluice/errors';
import { requireGuardrails } from '../../documents/guardrails/named-guardrails.ts';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';

/** The column of an integration: what of both is set. */
export type IntegrationPolicy = ToolPolicy & { readonly prices?: ToolPrices };

/**
 * A policy as it is stored.
 * @throws 400 with the path of what cannot be understood
 */
export function checkedPolicy(policy: ToolPolicy | null): ToolPolicy {
  const { access, request_timeout: each, request_timeout_max: whole } = policy ?? {};
  if (access?.rules !== undefined) requireUsableRules(access.rules);
  if (each !== undefined && whole !== undefined && whole < each)
    throw invalidField('body.policy.request_timeout_max', 'must not be less than request_timeout');
  return policy ?? {};
}

/** @throws 400 for a guardrail that is not there: each call of a tool would be refused */
export async function requirePolicyGuardrails(
  db: Database,
  owner: { organisationId: string; workspaceId: string | null },
  policy: ToolPolicy | null | undefined,
): Promise<void> {
  for (const field of ['input_guardrails', 'output_guardrails'] as const)
    await requireGuardrails(db, owner, policy?.[field] ?? [], `body.policy.${field}`);
}

function requireUsableRules(rules: Parameters<typeof compileToolRules>[0]): void {
  try {
    compileToolRules(rules, 'body.policy.access.rules');
  } catch (error) {
    if (!(error instanceof GatewayError) || error.field === undefined) throw error;
    throw invalidField(
      error.field,
      error.message.replace(`${error.field} `, '').replace(/\.$/, ''),
    );
  }
}

/** What is left out stays; null takes it back. */
export function integrationPolicy(
  before: IntegrationPolicy,
  change: { policy?: ToolPolicy | null | undefined; prices?: ToolPrices | null | undefined },
): Prisma.InputJsonObject {
  const { prices: pricesBefore, ...policyBefore } = before;
  const policy = change.policy === undefined ? policyBefore : checkedPolicy(change.policy);
  const prices = change.prices === undefined ? pricesBefore : (change.prices ?? undefined);
  return { ...policy, ...(prices === undefined ? {} : { prices }) } as Prisma.InputJsonObject;
}
