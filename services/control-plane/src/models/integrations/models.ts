import type { BodyOf, SecretMapping } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { PriceFault, readCustomPrices } from '@sluice/pricing';
import type { Database } from '../../kernel/database/client.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import { warnOfAddresses } from '../../kernel/http/check-address.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { mergeConfigurations } from './configurations.ts';
import { openCredentials } from './credentials.ts';
import { guardModels } from './guard-credentials.ts';
import { modelSettingsColumns, openModelSettings } from './model-settings.ts';
import type { IntegrationParts } from './operations.ts';
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
  call: AdminRequest,
  reference: string,
  body: BodyOf<'integrations.models.update'>,
  { vault, hostRules }: Pick<IntegrationParts, 'vault' | 'hostRules'>,
): Promise<void> {
  warnOfAddresses(call.notes, body, 'body', hostRules);
  const slugs = body.models.map((model) => model.slug);
  const named = new Set<string>();
  for (const [index, slug] of slugs.entries()) {
    if (named.has(slug)) throw invalidField(`body.models[${index}].slug`, 'is named twice');
    named.add(slug);
  }
  return changeReached(call, reference, showModels(slugs), async ({ db }, integration) => {
    const known = new Map(
      (await findModels(db, integration.id, slugs)).map((model) => [model.slug, model]),
    );
    const settings = body.models.map((model, index) => {
      const row = known.get(model.slug);
      const before = row === undefined ? {} : openModelSettings(vault, row);
      const after = mergeConfigurations(
        before,
        model.configurations,
        (setting) => `body.models[${index}].configurations.${setting}`,
      );
      return { before, after };
    });
    const mappings = integration.secretMappings as unknown as SecretMapping[];
    guardModels({ ...openCredentials(vault, integration), mappings }, settings, body);
    for (const [index, model] of body.models.entries()) {
      checkPrices(model.pricing_config, `body.models[${index}]`);
      await upsertModel(db, integration.id, model.slug, {
        enabled: model.enabled,
        isCustom: model.is_custom ?? undefined,
        isFinetune: model.is_finetune ?? undefined,
        baseModelSlug: model.base_model_slug,
        ...modelSettingsColumns(vault, integration.id, model.slug, settings[index]?.after ?? {}),
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
  call: AdminRequest,
  reference: string,
  slugs: readonly string[],
): Promise<void> {
  return changeReached(call, reference, showModels(slugs), ({ db }, integration) =>
    removeCustomModels(db, integration.id, slugs),
  );
}

/** @throws GatewayError `admin.validation` with the path of what a gateway could not read */
function checkPrices(pricing: unknown, at: string): void {
  if (pricing === undefined || pricing === null) return;
  try {
    readCustomPrices(pricing, '');
  } catch (error) {
    if (!(error instanceof PriceFault)) throw error;
    const field = `${at}.${error.path.replace('.pricing_config.', '.')}`;
    throw new GatewayError('admin.validation', { field, message: `${field} ${error.reason}.` });
  }
}

function showModels(slugs: readonly string[]) {
  return async (db: Database, integration: IntegrationRow) => ({
    allow_all_models: integration.allowAllModels,
    models: (await findModels(db, integration.id, slugs)).map(presentModel),
  });
}
