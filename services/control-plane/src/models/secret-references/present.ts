import type { AnswerOf } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import type { SecretReferenceRow } from './store.ts';

type Detail = AnswerOf<'secret-references.read'>;
type ListItem = AnswerOf<'secret-references.list'>['data'][number];

export function presentSecretReference(row: SecretReferenceRow): ListItem {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    manager_type: row.managerType as ListItem['manager_type'],
    status: row.status as ListItem['status'],
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    object: 'secret-reference',
  };
}

export function presentSecretReferenceDetail(
  row: SecretReferenceRow,
  allowedWorkspaces: readonly string[],
): Detail {
  return {
    ...presentSecretReference(row),
    organisation_id: row.organisationId,
    description: row.description,
    secret_path: row.secretPath,
    secret_key: row.secretKey,
    allow_all_workspaces: row.allowAllWorkspaces,
    ...(row.allowAllWorkspaces ? {} : { allowed_workspaces: [...allowedWorkspaces] }),
    tags: row.tags as Detail['tags'],
    created_by: row.createdBy,
    auth_config: row.authConfig as Detail['auth_config'],
  };
}
