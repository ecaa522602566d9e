import type { UpdateIntegrationModelsBody } from '@sluice/contracts/admin';
import type { CredentialVault } from '../credentials/envelope.ts';
import type { Database } from '../database/client.ts';
import type { AdminCall } from '../http/operation.ts';
import { noJson } from '../workspaces/store.ts';
import { mergeConfigurations } from './configurations.ts';
import { modelSettingsColumns, openModelSettings } from './model-settings.ts';
import { presentModel } from './present.ts';
import { changeReached } from './reach.ts';
import {
  findModels,
  type IntegrationRow,
  removeCustomModels,
  updateIntegration,
  upsertModel,
} from './store.ts';

/** Adds and changes models; those that are not named stay as they are. */
export function changeModels(
  call: AdminCall,
  reference: string,
  body: UpdateIntegrationModelsBody,
  vault: CredentialVault,
): Promise<void> {
  const slugs = body.models.map((model) => model.slug);
  return changeReached(call, reference, showModels(slugs), async ({ db }, integration) => {
    const known = new Map(
      (await findModels(db, integration.id, slugs)).map((model) => [model.slug, model]),
    );
    for (const model of body.models) {
      const before = known.get(model.slug);
      const settings = before === undefined ? {} : openModelSettings(vault, before);
      await upsertModel(db, integration.id, model.slug, {
        enabled: model.enabled,
        isCustom: model.is_custom ?? undefined,
        isFinetune: model.is_finetune ?? undefined,
        baseModelSlug: model.base_model_slug,
        ...modelSettingsColumns(
          vault,
          integration.id,
          model.slug,
          mergeConfigurations(settings, model.configurations),
        ),
        pricingConfig: model.pricing_config === null ? noJson : model.pricing_config,
        createdAt: call.now,
        updatedAt: call.now,
      });
    }
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
  return changeReached(call, reference, showModels(slugs), ({ db }, integration) =>
    removeCustomModels(db, integration.id, slugs),
  );
}

function showModels(slugs: readonly string[]) {
  return async (db: Database, integration: IntegrationRow) => ({
    allow_all_models: integration.allowAllModels,
    models: (await findModels(db, integration.id, slugs)).map(presentModel),
  });
}
