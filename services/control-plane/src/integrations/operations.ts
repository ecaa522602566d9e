import type {
  CreateIntegrationBody,
  UpdateIntegrationBody,
  UpdateIntegrationModelsBody,
  UpdateIntegrationWorkspacesBody,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { CredentialVault } from '../credentials/envelope.ts';
import type { Change } from '../database/change.ts';
import type { Database } from '../database/client.ts';
import { newId } from '../database/ids.ts';
import { Prisma } from '../generated/prisma/client.ts';
import type { AdminCall } from '../http/operation.ts';
import { invalidField } from '../http/parse-input.ts';
import { namedWorkspace, targetWorkspace } from '../http/target-workspace.ts';
import { provisionProvider } from '../providers/provision.ts';
import { generateSlug } from '../slugs/generate-slug.ts';
import { mergeConfigurations } from './configurations.ts';
import { credentialColumns, openCredentials } from './credentials.ts';
import { changeGrants } from './grants.ts';
import {
  findGrant,
  findIntegration,
  type IntegrationRow,
  insertIntegration,
  removeCustomModels,
  removeIntegration,
  updateIntegration,
  upsertModel,
  workspacesUsing,
} from './store.ts';

export interface IntegrationParts {
  vault: CredentialVault;
  /** Whether the catalogue has a provider of this id. */
  isKnownProvider: (id: string) => boolean;
}

/** The integration a path names, if it is in reach and of a level whose scopes the caller holds. */
export async function reachIntegration(
  call: AdminCall,
  db: Database,
  reference: string,
): Promise<IntegrationRow> {
  const { caller } = call;
  const integration = await findIntegration(db, caller.organisationId, reference);
  if (integration === null) throw new GatewayError('admin.not_found');
  if (caller.workspaceId !== undefined) {
    const inReach =
      integration.workspaceId === null
        ? (await findGrant(db, integration.id, caller.workspaceId))?.enabled === true
        : integration.workspaceId === caller.workspaceId;
    if (!inReach)
      throw new GatewayError('auth.missing_scope', {
        message: 'The integration is not in the workspace of this key.',
      });
  }
  call.permit(integration.workspaceId === null ? 'organisation' : 'workspace');
  return integration;
}

export function createIntegration(
  call: AdminCall,
  body: CreateIntegrationBody,
  parts: IntegrationParts,
): Promise<{ id: string; slug: string }> {
  if (!parts.isKnownProvider(body.ai_provider_id))
    throw invalidField('body.ai_provider_id', 'is no provider we know');
  refuseMappings(body.secret_mappings);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
    call.permit(workspace === undefined ? 'organisation' : 'workspace');
    const id = newId();
    const integration = await insertIntegration(db, {
      id,
      organisationId: call.caller.organisationId,
      workspaceId: workspace?.id,
      slug: body.slug ?? generateSlug('integration', body.name),
      aiProviderId: body.ai_provider_id,
      name: body.name,
      description: body.description ?? null,
      ...credentialColumns(parts.vault, id, {
        key: body.key ?? null,
        configurations: mergeConfigurations({}, body.configurations),
      }),
      secretMappings: [],
      pricingAdjustments: nullable(body.pricing_adjustments ?? null),
      tags: nullable(body.tags ?? null),
      createdAt: call.now,
      updatedAt: call.now,
    });
    if (workspace !== undefined) {
      if (body.create_default_provider)
        await provisionProvider(db, integration, workspace.id, {
          slug: body.default_provider_slug,
          now: call.now,
        });
      touchWorkspace(workspace.id);
    }
    describe({ resourceId: id, workspaceId: workspace?.id, detail: { slug: integration.slug } });
    return { id, slug: integration.slug };
  });
}

export function changeIntegration(
  call: AdminCall,
  reference: string,
  body: UpdateIntegrationBody,
  parts: IntegrationParts,
): Promise<void> {
  refuseMappings(body.secret_mappings);
  return changeReached(call, reference, async ({ db }, integration) => {
    const before = openCredentials(parts.vault, integration);
    const columns = credentialColumns(parts.vault, integration.id, {
      key: body.key === undefined ? before.key : body.key,
      configurations: mergeConfigurations(before.configurations, body.configurations),
    });
    await updateIntegration(db, integration.id, {
      ...columns,
      name: body.name,
      description: body.description,
      pricingAdjustments:
        body.pricing_adjustments === undefined ? undefined : nullable(body.pricing_adjustments),
      tags: body.tags === undefined ? undefined : nullable(body.tags),
      updatedAt: call.now,
    });
  });
}

/** Goes with the providers made from it, in every workspace, so that no copy of the credential stays in use. */
export function deleteIntegration(call: AdminCall, reference: string): Promise<void> {
  return changeReached(call, reference, ({ db }, integration) =>
    removeIntegration(db, integration.id),
  );
}

export function changeModels(
  call: AdminCall,
  reference: string,
  body: UpdateIntegrationModelsBody,
): Promise<void> {
  return changeReached(call, reference, async ({ db }, integration) => {
    for (const model of body.models)
      await upsertModel(db, integration.id, model.slug, {
        enabled: model.enabled,
        isCustom: model.is_custom ?? undefined,
        isFinetune: model.is_finetune ?? undefined,
        baseModelSlug: model.base_model_slug,
        configurations:
          model.configurations === undefined ? undefined : (model.configurations ?? {}),
        pricingConfig:
          model.pricing_config === undefined ? undefined : nullable(model.pricing_config),
        createdAt: call.now,
        updatedAt: call.now,
      });
    await updateIntegration(db, integration.id, {
      allowAllModels: body.allow_all_models,
      updatedAt: call.now,
    });
  });
}

/** Only models that people added themselves can be removed; the others are switched off. */
export function deleteModels(
  call: AdminCall,
  reference: string,
  slugs: readonly string[],
): Promise<void> {
  return changeReached(call, reference, ({ db }, integration) =>
    removeCustomModels(db, integration.id, slugs),
  );
}

export function changeWorkspaces(
  call: AdminCall,
  reference: string,
  body: UpdateIntegrationWorkspacesBody,
): Promise<void> {
  return changeReached(call, reference, async (change, integration) => {
    if (integration.workspaceId !== null)
      throw new GatewayError('admin.refused', {
        message: 'This integration belongs to one workspace.',
      });
    if (
      (body.workspaces ?? []).length === 0 &&
      body.global_workspace_access === undefined &&
      !body.override_existing_workspace_access
    )
      throw invalidField('body.workspaces', 'needs at least one entry');
    await changeGrants(change, integration, body, call.now);
    await updateIntegration(change.db, integration.id, {
      globalAccess:
        body.global_workspace_access === undefined
          ? undefined
          : nullable(body.global_workspace_access),
      updatedAt: call.now,
    });
  });
}

/** A change of one integration; every workspace that has a provider of it hears of it. */
function changeReached(
  call: AdminCall,
  reference: string,
  work: (change: Change, integration: IntegrationRow) => Promise<void>,
): Promise<void> {
  return call.change(async (change) => {
    const integration = await reachIntegration(call, change.db, reference);
    // Asked before the work, which may remove the providers.
    for (const id of await workspacesUsing(change.db, integration.id)) change.touchWorkspace(id);
    await work(change, integration);
    change.describe({
      resourceId: integration.id,
      workspaceId: integration.workspaceId ?? undefined,
      detail: { slug: integration.slug },
    });
  });
}

/** There are no secret references yet, so none can be mapped. */
function refuseMappings(mappings: readonly unknown[] | null | undefined): void {
  if (mappings !== undefined && mappings !== null && mappings.length > 0)
    throw invalidField(
      'body.secret_mappings[0].secret_reference_id',
      'is no secret reference of this organisation',
    );
}

function nullable(value: object | null): Prisma.InputJsonValue | typeof Prisma.DbNull {
  return value === null ? Prisma.DbNull : (value as Prisma.InputJsonValue);
}
