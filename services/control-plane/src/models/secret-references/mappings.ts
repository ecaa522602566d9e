import type { SecretMapping, SecretMappingBody } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { findSecretReference, isOpenTo } from './store.ts';

/** The resource that gets the value of a secret. */
export interface MappingHolder {
  organisationId: string;
  /** Null for a resource of the organisation: the workspaces that use it are not known yet. */
  workspaceId: string | null;
  /** Under which name the resource shows its settings. */
  settings: 'configurations' | 'model_config';
  /** Whether it has a key that may be mapped. */
  hasKey: boolean;
}

const fieldName = /^[A-Za-z0-9_.-]{1,128}$/;

/**
 * Secret mappings as they are kept: targets in full (`key`, `configurations.x`),
 * references by UUID, each of them active and open to the holder's workspace. What
 * belongs to the organisation may name any of its references.
 * @throws 400 with the path of the first mapping that cannot be.
 */
export async function checkMappings(
  db: Database,
  holder: MappingHolder,
  mappings: readonly SecretMappingBody[],
): Promise<SecretMapping[]> {
  const checked: SecretMapping[] = [];
  for (const [index, mapping] of mappings.entries()) {
    const at = `body.secret_mappings[${index}]`;
    const target = fullTarget(mapping.target_field, holder);
    if (target === undefined)
      throw invalidField(`${at}.target_field`, `must be ${allowedTargets(holder)}`);
    if (checked.some((other) => other.target_field === target))
      throw invalidField(`${at}.target_field`, 'is mapped twice');
    checked.push({
      target_field: target,
      secret_reference_id: await usableReference(db, holder, mapping, at),
      secret_key: mapping.secret_key ?? null,
      value_format: mapping.value_format ?? null,
    });
  }
  return checked;
}

/** A bare name means a field of the settings. */
function fullTarget(target: string, { settings, hasKey }: MappingHolder): string | undefined {
  if (target === 'key') return hasKey ? target : undefined;
  const prefix = `${settings}.`;
  const name = target.startsWith(prefix) ? target.slice(prefix.length) : target;
  return fieldName.test(name) ? `${prefix}${name}` : undefined;
}

function allowedTargets({ settings, hasKey }: MappingHolder): string {
  return hasKey ? `"key" or "${settings}.<field>"` : `"${settings}.<field>"`;
}

async function usableReference(
  db: Database,
  { organisationId, workspaceId }: MappingHolder,
  mapping: SecretMappingBody,
  at: string,
): Promise<string> {
  const reference = await findSecretReference(db, organisationId, mapping.secret_reference_id);
  const refuse = (message: string) => invalidField(`${at}.secret_reference_id`, message);
  if (reference === null) throw refuse('is no secret reference of this organisation');
  if (reference.status !== 'ACTIVE') throw refuse('is not active');
  if (workspaceId !== null && !(await isOpenTo(db, reference, workspaceId)))
    throw refuse('is not open to this workspace');
  return reference.id;
}
