/**
 * Fields that say where something is, or become part of an address. A secret
 * that is kept beside one belongs to it: whoever changes the address must send
 * the secret again. A new field whose name sounds like an address counts as
 * one until it stands among those that are none; a test asks for the decision.
 * All names in snake case.
 */
const addressFields = new Set([
  // Addresses as a whole.
  'url',
  'custom_host',
  'jwks_url',
  'jwks_uri',
  'introspect_endpoint',
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
  'webhook_url',
  'log_url',
  'vault_addr',
  'azure_vault_url',
  'azure_foundry_url',
  'huggingface_base_url',
  // Parts of addresses.
  'region',
  'aws_region',
  'aws_s3_bucket',
  'fireworks_account_id',
  'azure_region',
  'byteplus_region',
  'oracle_region',
  'vertex_region',
  'vertex_storage_bucket_name',
  'resource',
  'resource_name',
  'azure_resource_name',
  'azure_endpoint_name',
  'azure_entra_tenant_id',
  'databricks_workspace',
  'predibase_tenant_id',
  'snowflake_account',
  'workers_ai_account_id',
  'amzn_sagemaker_target_container_hostname',
  // Who is believed to be at an address.
  'tls_ca',
  // Who is asked: each has an address of its own.
  'provider',
  'ai_provider_id',
  'virtual_key',
  'config',
]);

/** Names that sound like addresses and lead nowhere. */
const notAddresses = new Set([
  // Whether a provider's own form of an endpoint is used.
  'provider_responses_proxy',
  // Which kinds of requests there are, and how they are told apart.
  'endpoint_type',
  'only_dns',
  // Resources of ours, by their ids.
  'mcp_server',
  'server_id',
  'service_account',
]);

/** Settings of providers that lead nowhere: who is asking, for what, and in which form. */
const settingsWithoutAddress = new Set([
  'amz_server_side_encryption',
  'amz_server_side_encryption_aws_kms_key_id',
  'amzn_sagemaker_custom_attributes',
  'amzn_sagemaker_enable_explanations',
  'amzn_sagemaker_inference_component',
  'amzn_sagemaker_inference_id',
  'amzn_sagemaker_model_name',
  'amzn_sagemaker_session_id',
  'amzn_sagemaker_target_model',
  'amzn_sagemaker_target_variant',
  'aws_bedrock_model',
  'aws_s3_object_key',
  'file_purpose',
  'file_upload_size',
  // What the gateway shows of an answer.
  'lists',
  'provider_batch_endpoint',
  'provider_file_name',
  'provider_model',
  'anthropic_aws_workspace_id',
  'anthropic_beta',
  'anthropic_google_workspace_id',
  'anthropic_user_profile_id',
  'anthropic_version',
  'anthropic_workspace_id',
  'api_version',
  'aws_access_key_id',
  'aws_auth_type',
  'aws_external_id',
  'aws_role_arn',
  'aws_secret_access_key',
  'aws_session_token',
  'azure_ad_token',
  'azure_api_version',
  'azure_auth_mode',
  'azure_deployment_config',
  'azure_deployment_id',
  'azure_deployment_name',
  'azure_deployment_type',
  'azure_entra_client_id',
  'azure_entra_client_secret',
  'azure_entra_scope',
  'azure_extra_params',
  'azure_managed_client_id',
  'azure_model_name',
  'azure_workload_client_id',
  'custom_headers',
  'databricks_serving_endpoint_name',
  'deployment_id',
  'deployments',
  'mistral_fim_completion',
  'openai_beta',
  'openai_organization',
  'openai_project',
  'oracle_api_format',
  'oracle_api_version',
  'oracle_compartment_id',
  'oracle_fingerprint',
  'oracle_key_passphrase',
  'oracle_private_key',
  'oracle_serving_mode',
  'oracle_tenancy',
  'oracle_user',
  'provider_responses_proxy',
  'scenario_api_secret',
  'snowflake_token_type',
  'vertex_auth_type',
  'vertex_project_id',
  'vertex_service_account_json',
]);

const soundsLikeAddress =
  /(?:^|_)(?:url|uri|host|hosts|hostname|endpoint|endpoints|domain|domains|dns|region|location|resource|account|issuer|authority|bucket|addr|address|server|servers|site|origin|proxy|port|scheme|base|tenant|tenancy|instance|cluster|ca|tls)(?:_(?:id|name|type|url|uri|mode|number))?$/;

/** Whether a field of this name, in whatever spelling, says where something is. */
export function bearsAddress(name: string): boolean {
  const snake = snakeCase(name);
  return addressFields.has(snake) || (soundsLikeAddress.test(snake) && !notAddresses.has(snake));
}

/** The same for a setting of a provider: of one that nobody declared it is assumed. */
export function settingBearsAddress(name: string): boolean {
  return !settingsWithoutAddress.has(snakeCase(name));
}

/** Whether somebody decided about a name that sounds like an address. */
export function isDeclaredAddressName(name: string): boolean {
  const snake = snakeCase(name);
  return addressFields.has(snake) || notAddresses.has(snake) || settingsWithoutAddress.has(snake);
}

/** Whether a name sounds like an address, declared or not. */
export function soundsLikeAddressName(name: string): boolean {
  return soundsLikeAddress.test(snakeCase(name));
}

/** `webhookURL` and `webhook-url` are `webhook_url`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase();
}
