import type { AnswerOf } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import type { GuardrailRow, GuardrailVersionRow } from './store.ts';

type Summary = AnswerOf<'guardrails.list'>['data'][number];
type Detail = AnswerOf<'guardrails.read'>;

export function presentGuardrail(row: GuardrailRow): Summary {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId,
    status: row.status as Summary['status'],
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    owner_id: row.ownerId,
    updated_by: row.updatedBy,
  };
}

export function presentGuardrailDetail(row: GuardrailRow, version: GuardrailVersionRow): Detail {
  return {
    ...presentGuardrail(row),
    checks: version.checks as Detail['checks'],
    actions: version.actions as Detail['actions'],
  };
}
