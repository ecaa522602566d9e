import { z } from 'zod';
import {
  descriptionField,
  headersField,
  hostField,
  nameField,
  referenceField,
  slugField,
  tagsField,
} from './fields.ts';
import { rateLimit, usageLimits } from './limits.ts';
import { commaList, pageQuery, tagsQuery } from './paging.ts';
import { secretMappings } from './secret-mappings.ts';

/** Settings of the provider: its own fields as they are, two that every provider has checked. */
const configurations = z
  .looseObject({ custom_host: hostField.nullish(), custom_headers: headersField.nullish() })
  .refine((value) => Object.keys(value).length <= 100, 'may hold 100 entries at most');

const factor = z.number().min(0).nullish();
const pricedTokens = [
  'default',
  'request_token',
  'response_token',
  'cache_read_input_token',
  'cache_write_input_token',
  'cache_read_audio_input_token',
  'request_audio_token',
  'response_audio_token',
  'reasoning_token',
  'prediction_accepted_token',
  'prediction_rejected_token',
  'request_image_token',
  'response_image_token',
  'request_text_token',
  'response_text_token',
  'cache_read_image_input_token',
  'cache_read_text_input_token',
  'cache_write_text_input_token',
  'cache_write_image_input_token',
];

/** Factors on the price book's prices; a missing one inherits `default`, an unknown one is a fault. */
const pricingAdjustments = z.strictObject({
  multiplier: z
    .strictObject({
      ...Object.fromEntries(pricedTokens.map((name) => [name, factor])),
      image: z.strictObject({ default: factor }).nullish(),
      additional_units: z.record(z.string().max(128), factor).nullish(),
    })
    .optional(),
});

const shared = {
  key: z.string().min(1).max(16_384).nullish(),
  description: descriptionField.nullish(),
  configurations: configurations.nullish(),
  secret_mappings: secretMappings.nullish(),
  pricing_adjustments: pricingAdjustments.nullish(),
  tags: tagsField.nullish(),
};

export const createIntegrationBody = z.object({
  name: nameField,
  ai_provider_id: z.string().min(1).max(128),
  slug: slugField.optional(),
  workspace_id: referenceField.nullish(),
  create_default_provider: z.boolean().default(true),
  default_provider_slug: slugField.optional(),
  ...shared,
});
export type CreateIntegrationBody = z.infer<typeof createIntegrationBody>;

export const updateIntegrationBody = z.object({ name: nameField.optional(), ...shared });
export type UpdateIntegrationBody = z.infer<typeof updateIntegrationBody>;

export const listIntegrationsQuery = z
  .object({
    workspace_id: referenceField.optional(),
    type: z.enum(['workspace', 'organisation', 'all']).default('all'),
    tags: tagsQuery.optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));

/** In cents a token. The bound keeps it a plain decimal. */
const price = z.object({ price: z.number().min(0).max(1e15) });

export const updateIntegrationModelsBody = z.object({
  models: z
    .array(
      z.object({
        slug: z.string().min(1).max(255),
        enabled: z.boolean(),
        is_custom: z.boolean().nullish(),
        is_finetune: z.boolean().nullish(),
        base_model_slug: z.string().max(255).nullish(),
        configurations: z
          .object({ custom_host: hostField.nullish(), custom_headers: headersField.nullish() })
          .nullish(),
        pricing_config: z
          .object({
            type: z.literal('static').default('static'),
            pay_as_you_go: z.object({
              request_token: price.optional(),
              response_token: price.optional(),
            }),
          })
          .nullish(),
      }),
    )
    .max(5000),
  allow_all_models: z.boolean().optional(),
});
export type UpdateIntegrationModelsBody = z.infer<typeof updateIntegrationModelsBody>;

export const deleteIntegrationModelsQuery = z.object({
  slugs: commaList().refine((list) => list.length > 0, 'is required'),
});

const grantLimits = {
  usage_limits: z.array(usageLimits).max(1).nullish(),
  rate_limits: z.array(rateLimit).max(1).nullish(),
};

export const globalWorkspaceAccess = z.object({ enabled: z.boolean(), ...grantLimits });
export type GlobalWorkspaceAccess = z.infer<typeof globalWorkspaceAccess>;

export const updateIntegrationWorkspacesBody = z.object({
  workspaces: z
    .array(
      z.object({
        id: referenceField,
        enabled: z.boolean(),
        ...grantLimits,
        reset_usage: z.boolean().optional(),
        create_default_provider: z.boolean().optional(),
        default_provider_slug: slugField.optional(),
      }),
    )
    .max(1000)
    .optional(),
  global_workspace_access: globalWorkspaceAccess.nullish(),
  override_existing_workspace_access: z.boolean().default(false),
  create_default_provider: z.boolean().default(true),
  default_provider_slug: slugField.optional(),
});
export type UpdateIntegrationWorkspacesBody = z.infer<typeof updateIntegrationWorkspacesBody>;
