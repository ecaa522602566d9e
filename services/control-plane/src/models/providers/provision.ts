import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { IntegrationRow } from '../integrations/store.ts';
import { hasProviderOf, hasSlug, insertProvider } from './store.ts';

/**
 * The provider that comes with access to an integration, unless the workspace
 * has one of it. Its slug is the one asked for, or the integration's while that is free.
 */
export async function provisionProvider(
  db: Database,
  integration: IntegrationRow,
  workspaceId: string,
  options: { slug?: string; slugField?: string; now: Date },
): Promise<void> {
  if (await hasProviderOf(db, workspaceId, integration.id)) return;
  const asked = options.slug;
  if (asked !== undefined && (await hasSlug(db, workspaceId, asked)))
    throw invalidField(
      options.slugField ?? 'body.default_provider_slug',
      'is taken in the workspace',
    );
  const slug =
    asked ??
    ((await hasSlug(db, workspaceId, integration.slug))
      ? generateSlug('provider', integration.slug)
      : integration.slug);
  await insertProvider(db, {
    id: newId(),
    organisationId: integration.organisationId,
    workspaceId,
    integrationId: integration.id,
    slug,
    name: integration.name,
    createdAt: options.now,
    updatedAt: options.now,
  });
}
