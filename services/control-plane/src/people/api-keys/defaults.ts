import type { KeyType } from '@sluice/contracts';
import type { Settings } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { findConfig } from '../../documents/configs/store.ts';
import type { Database } from '../../kernel/database/client.ts';
import { checkMetadata, textMetadata } from '../../kernel/tenancy/settings.ts';

/**
 * The metadata of a key as the organisation's schema wants it. Organisation
 * keys make no requests that it could describe, so nothing is asked of theirs.
 */
export function keptMetadata(
  type: KeyType,
  settings: Settings,
  sent: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, string> {
  const schema = type === 'organisation-service' ? null : settings.metadata_schemas.api_keys;
  return checkMetadata(schema, textMetadata(sent), 'body.defaults.metadata');
}

/** The rest of a key's defaults as columns: what is left out stays, null clears. */
export async function keptDefaults(
  db: Database,
  workspaceId: string | undefined,
  sent: { config_id?: string | null | undefined; allow_config_override?: boolean | undefined },
): Promise<{ configId: string | null | undefined; allowConfigOverride: boolean | undefined }> {
  return {
    configId: await configId(db, workspaceId, sent.config_id),
    allowConfigOverride: sent.allow_config_override,
  };
}

async function configId(
  db: Database,
  workspaceId: string | undefined,
  reference: string | null | undefined,
): Promise<string | null | undefined> {
  if (reference === undefined || reference === null) return reference;
  if (workspaceId === undefined)
    throw invalidField('body.defaults.config_id', 'means nothing for a key without a workspace');
  const config = await findConfig(db, workspaceId, reference);
  if (config === null)
    throw invalidField('body.defaults.config_id', 'is no config of the workspace');
  return config.id;
}
