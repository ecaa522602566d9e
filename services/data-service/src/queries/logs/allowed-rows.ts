import { GatewayError } from '@sluice/errors';
import type { Parameters } from '../parameters.ts';

interface Tenancy {
  readonly organisationId: string;
  /** Empty = of every workspace. */
  readonly workspaceIds: readonly string[];
}

/** Whose rows somebody may see. */
export interface Allowed extends Tenancy {
  readonly userId?: string | undefined;
  readonly apiKeyId?: string | undefined;
}

export function tenancyOf(
  { organisationId, workspaceIds }: Tenancy,
  parameters: Parameters,
): string[] {
  // The wall between tenants: its absence is an error of the caller, not "all".
  if (organisationId === '')
    throw new GatewayError('admin.validation', { field: 'organisation_id' });
  const conditions = [`organisation_id = ${parameters.bind('String', organisationId)}`];
  if (workspaceIds.length > 0)
    conditions.push(`workspace_id IN ${parameters.bindTexts(workspaceIds)}`);
  return conditions;
}

export function allowedRows(allowed: Allowed, parameters: Parameters): string[] {
  const { userId, apiKeyId } = allowed;
  const conditions = tenancyOf(allowed, parameters);
  // What nobody did belongs to nobody, not to a user without a name.
  if (userId !== undefined)
    conditions.push("user_id != ''", `user_id = ${parameters.bind('String', userId)}`);
  if (apiKeyId !== undefined)
    conditions.push(`api_key_id = ${parameters.bind('String', apiKeyId)}`);
  return conditions;
}
