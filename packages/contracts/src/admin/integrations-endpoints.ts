import { z } from 'zod';
import { endpoint, nothing } from './endpoint.ts';
import { instantText } from './fields.ts';
import {
  createIntegrationBody,
  deleteIntegrationModelsQuery,
  listIntegrationsQuery,
  updateIntegrationBody,
  updateIntegrationModelsBody,
  updateIntegrationWorkspacesBody,
} from './integrations.ts';

const integrationList = z.object({
  id: z.uuid(),
  organisation_id: z.uuid(),
  ai_provider_id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'archived']),
  created_at: instantText,
  last_updated_at: instantText.nullable(),
  slug: z.string(),
  description: z.string(),
  object: z.literal('integration'),
});

const openAIConfiguration = z.object({
  openai_organization: z.string(),
  openai_project: z.string(),
});

const azureDeploymentConfig = z.object({
  alias: z.string(),
  azure_api_version: z.string(),
  azure_deployment_name: z.string(),
  is_default: z.boolean(),
  azure_model_slug: z.string(),
});

const azureOpenAIConfiguration = z.object({
  azure_auth_mode: z.enum(['default', 'entra', 'managed', 'workload', 'entraFederated']),
  azure_resource_name: z.string(),
  azure_deployment_config: z.array(azureDeploymentConfig),
  azure_entra_tenant_id: z.string(),
  azure_entra_client_id: z.string(),
  azure_entra_client_secret: z.string(),
  azure_managed_client_id: z.string(),
  azure_workload_client_id: z.string(),
  azure_workload_tenant_id: z.string(),
});

const bedrockConfiguration = z.object({
  aws_auth_type: z.enum(['accessKey', 'assumedRole', 'serviceRole', 'apiKey']),
  aws_region: z.string(),
  aws_access_key_id: z.string(),
  aws_secret_access_key: z.string(),
  aws_role_arn: z.string(),
  aws_external_id: z.string().nullable(),
});

const vertexAIConfiguration = z.object({
  vertex_auth_type: z.enum(['basic', 'serviceAccount']),
  vertex_region: z.string(),
  vertex_project_id: z.string(),
  vertex_service_account_json: z.record(z.string(), z.unknown()),
});

const azureAIConfiguration = z.object({
  azure_auth_mode: z.enum(['default', 'entra', 'managed', 'workload', 'entraFederated']),
  azure_foundry_url: z.string(),
  azure_api_version: z.string(),
  azure_deployment_name: z.string(),
  azure_entra_tenant_id: z.string(),
  azure_entra_client_id: z.string(),
  azure_entra_client_secret: z.string(),
  azure_managed_client_id: z.string(),
  azure_workload_client_id: z.string(),
  azure_workload_tenant_id: z.string(),
});

const workersAIConfiguration = z.object({
  workers_ai_account_id: z.string(),
});

const sageMakerConfiguration = z.object({
  aws_auth_type: z.enum(['accessKey', 'assumedRole', 'serviceRole', 'apiKey']),
  aws_region: z.string(),
  aws_access_key_id: z.string(),
  aws_secret_access_key: z.string(),
  aws_role_arn: z.string(),
  aws_external_id: z.string().nullable(),
  amzn_sagemaker_custom_attributes: z.string(),
  amzn_sagemaker_target_model: z.string(),
  amzn_sagemaker_target_variant: z.string(),
  amzn_sagemaker_target_container_hostname: z.string(),
  amzn_sagemaker_inference_id: z.string(),
  amzn_sagemaker_enable_explanations: z.string(),
  amzn_sagemaker_inference_component: z.string(),
  amzn_sagemaker_session_id: z.string(),
  amzn_sagemaker_model_name: z.string(),
});

const huggingFaceConfiguration = z.object({
  huggingface_base_url: z.string(),
});

const cortexConfiguration = z.object({
  snowflake_account: z.string(),
});

const customHostConfiguration = z.object({
  custom_host: z.string(),
  custom_headers: z.record(z.string(), z.string()),
});

const usageLimits = z.object({
  credit_limit: z.int(),
  type: z.enum(['cost', 'tokens']),
  alert_threshold: z.int(),
  periodic_reset: z.enum(['monthly', 'weekly']).nullable(),
  periodic_reset_days: z.int().nullable(),
  next_usage_reset_at: instantText.nullable(),
});

const rateLimits = z.object({
  type: z.enum(['requests', 'tokens']),
  unit: z.enum(['rpd', 'rph', 'rpm']),
  value: z.int(),
});

const secretMapping = z.object({
  target_field: z.string(),
  secret_reference_id: z.string(),
  secret_key: z.string().nullable(),
  value_format: z.enum(['json', 'string']).nullable(),
});

const pricingMultiplier = z.object({
  default: z.number().nullable(),
  request_token: z.number().nullable(),
  response_token: z.number().nullable(),
  cache_read_input_token: z.number().nullable(),
  cache_write_input_token: z.number().nullable(),
  cache_read_audio_input_token: z.number().nullable(),
  request_audio_token: z.number().nullable(),
  response_audio_token: z.number().nullable(),
  reasoning_token: z.number().nullable(),
  prediction_accepted_token: z.number().nullable(),
  prediction_rejected_token: z.number().nullable(),
  request_image_token: z.number().nullable(),
  response_image_token: z.number().nullable(),
  request_text_token: z.number().nullable(),
  response_text_token: z.number().nullable(),
  cache_read_image_input_token: z.number().nullable(),
  cache_read_text_input_token: z.number().nullable(),
  cache_write_text_input_token: z.number().nullable(),
  cache_write_image_input_token: z.number().nullable(),
  image: z
    .object({
      default: z.number().nullable(),
    })
    .nullable(),
  additional_units: z.record(z.string(), z.number().nullable()).nullable(),
});

const pricingAdjustments = z
  .object({
    multiplier: pricingMultiplier,
  })
  .nullable();

const integrationDetailResponse = z.object({
  id: z.uuid(),
  organisation_id: z.uuid(),
  ai_provider_id: z.string(),
  name: z.string(),
  status: z.enum(['active', 'archived']),
  created_at: instantText,
  last_updated_at: instantText.nullable(),
  slug: z.string(),
  description: z.string(),
  object: z.literal('integration'),
  masked_key: z.string(),
  configurations: z.union([
    openAIConfiguration,
    azureOpenAIConfiguration,
    bedrockConfiguration,
    vertexAIConfiguration,
    azureAIConfiguration,
    workersAIConfiguration,
    sageMakerConfiguration,
    huggingFaceConfiguration,
    cortexConfiguration,
    customHostConfiguration,
  ]),
  global_workspace_access_settings: z
    .object({
      enabled: z.boolean(),
      usage_limits: z.array(usageLimits).nullable(),
      rate_limits: z.array(rateLimits).nullable(),
    })
    .nullable(),
  allow_all_models: z.boolean(),
  workspace_count: z.int(),
  secret_mappings: z.array(secretMapping),
  pricing_adjustments: pricingAdjustments,
});

const tokenPricing = z.object({
  price: z.number(),
});

const payAsYouGoPricing = z.object({
  request_token: tokenPricing,
  response_token: tokenPricing,
});

const pricingConfig = z.object({
  type: z.literal('static'),
  pay_as_you_go: payAsYouGoPricing,
});

const modelConfigurations = z.object({
  custom_host: z.string(),
  custom_headers: z.record(z.string(), z.string()),
});

const integrationModel = z.object({
  slug: z.string(),
  name: z.string(),
  enabled: z.boolean(),
  is_custom: z.boolean().nullable(),
  is_finetune: z.boolean().nullable(),
  base_model_slug: z.string().nullable(),
  pricing_config: pricingConfig,
  configurations: modelConfigurations,
});

const integrationModelsResponse = z.object({
  total: z.int(),
  models: z.array(integrationModel),
});

const integrationWorkspace = z.object({
  id: z.string(),
  enabled: z.boolean(),
  usage_limits: z.array(usageLimits).nullable(),
  rate_limits: z.array(rateLimits).nullable(),
});

const integrationWorkspacesResponse = z.object({
  total: z.int(),
  workspaces: z.array(integrationWorkspace),
});

export const integrationsEndpoints = {
  'integrations.list': endpoint({
    operationId: 'getIntegrations',
    tag: 'Integrations',
    method: 'get',
    path: '/integrations',
    query: listIntegrationsQuery,
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(integrationList),
    }),
  }),
  'integrations.create': endpoint({
    operationId: 'postIntegrations',
    tag: 'Integrations',
    method: 'post',
    path: '/integrations',
    body: createIntegrationBody,
    answer: z.object({
      id: z.uuid(),
      slug: z.string(),
    }),
  }),
  'integrations.read': endpoint({
    operationId: 'getIntegrationsSlug',
    tag: 'Integrations',
    method: 'get',
    path: '/integrations/{slug}',
    answer: integrationDetailResponse,
  }),
  'integrations.update': endpoint({
    operationId: 'putIntegrationsSlug',
    tag: 'Integrations',
    method: 'put',
    path: '/integrations/{slug}',
    body: updateIntegrationBody,
    answer: nothing,
  }),
  'integrations.delete': endpoint({
    operationId: 'deleteIntegrationsSlug',
    tag: 'Integrations',
    method: 'delete',
    path: '/integrations/{slug}',
    answer: nothing,
  }),
  'integrations.models.list': endpoint({
    operationId: 'getIntegrationsSlugModels',
    tag: 'Integrations > Models',
    method: 'get',
    path: '/integrations/{slug}/models',
    answer: integrationModelsResponse,
  }),
  'integrations.models.update': endpoint({
    operationId: 'putIntegrationsSlugModels',
    tag: 'Integrations > Models',
    method: 'put',
    path: '/integrations/{slug}/models',
    body: updateIntegrationModelsBody,
    answer: nothing,
  }),
  'integrations.models.delete': endpoint({
    operationId: 'deleteIntegrationsSlugModels',
    tag: 'Integrations > Models',
    method: 'delete',
    path: '/integrations/{slug}/models',
    query: deleteIntegrationModelsQuery,
    answer: nothing,
  }),
  'integrations.workspaces.list': endpoint({
    operationId: 'getIntegrationsSlugWorkspaces',
    tag: 'Integrations > Workspaces',
    method: 'get',
    path: '/integrations/{slug}/workspaces',
    answer: integrationWorkspacesResponse,
  }),
  'integrations.workspaces.update': endpoint({
    operationId: 'putIntegrationsSlugWorkspaces',
    tag: 'Integrations > Workspaces',
    method: 'put',
    path: '/integrations/{slug}/workspaces',
    body: updateIntegrationWorkspacesBody,
    answer: nothing,
  }),
};
