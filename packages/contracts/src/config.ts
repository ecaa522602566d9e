import { z } from 'zod';
import type { JsonObject } from './chat.ts';
import { streamFields } from './stream-checks.ts';

/**
 * The config document: a tenant's routing instructions, saved or inline.
 * Names are snake_case; camelCase spellings of the same names are accepted and
 * folded, except inside maps whose keys belong to the user.
 */

/** Deepest nesting inside maps that belong to the user, e.g. `override_params`. */
const jsonDepthMax = 64;

/** Documents are parsed JSON: the kind of the value and its depth are all that is left to check. */
const jsonObject = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be a JSON object',
  )
  .refine((value) => isWithinDepth(value, jsonDepthMax), 'is nested too deep');

function isWithinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  for (const inner of Object.values(value)) if (!isWithinDepth(inner, depth - 1)) return false;
  return true;
}

const statusCodes = z.array(z.int().min(100).max(599)).max(500);
const timeoutMs = z.int().min(1).max(3_600_000);

const retry = z.strictObject({
  attempts: z.int().min(0).max(5),
  on_status_codes: statusCodes.optional(),
  use_retry_after_headers: z.boolean().optional(),
  use_retry_after_header: z.boolean().optional(),
});

const cache = z.strictObject({
  mode: z.enum(['simple', 'semantic']),
  max_age: z.int().min(60).max(25_923_000).optional(),
  similarity_threshold: z
    .number()
    .min(0.5)
    .max(1)
    .describe(
      'Of the semantic cache: from which cosine on two questions count as one. Default: what the operator set, 0.95.',
    )
    .optional(),
  embedding: z
    .strictObject({
      provider: z.string().regex(/^@[^/]{1,255}$/, 'must be a saved provider, as @slug'),
      model: z.string().min(1).max(256),
    })
    .describe(
      'Who tells the semantic cache how near questions are: a saved provider of the workspace, as @slug, and its embedding model. Default: what the operator set.',
    )
    .optional(),
  shadow: z
    .boolean()
    .describe(
      'The semantic cache tells in records which answer it would have given, and gives none.',
    )
    .optional(),
});

const promptCache = z.strictObject({
  breakpoints: z.enum(['auto', 'off']),
  ttl: z.enum(['5m', '1h']).optional(),
});

const hedge = z.strictObject({
  /** Milliseconds. */
  delay: timeoutMs,
  budget_percentage: z.number().min(0).max(100).optional(),
});

const circuitBreaker = z
  .strictObject({
    failure_threshold: z.number().min(1).optional(),
    failure_threshold_percentage: z.number().min(0).max(100).optional(),
    minimum_requests: z.int().min(1).optional(),
    cooldown_interval: z.int().min(30_000),
    failure_status_codes: statusCodes.optional(),
  })
  .refine(
    (rule) =>
      rule.failure_threshold !== undefined || rule.failure_threshold_percentage !== undefined,
    'needs failure_threshold or failure_threshold_percentage',
  );

/** How a node's targets combine. `least_latency` and `lowest_cost` are accepted spellings. */
export const strategyModes = [
  'single',
  'fallback',
  'loadbalance',
  'conditional',
  'least-latency',
  'lowest-cost',
] as const;
export type StrategyMode = (typeof strategyModes)[number];

const strategyMode = z
  .enum([...strategyModes, 'least_latency', 'lowest_cost'], {
    error: () => `must be one of ${strategyModes.join(', ')}`,
  })
  .transform((mode) => mode.replace('_', '-') as StrategyMode);

const strategy = z.strictObject({
  mode: strategyMode,
  on_status_codes: statusCodes.optional(),
  conditions: z
    // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
    .array(z.strictObject({ query: jsonObject, then: z.string() }))
    .max(1000)
    .optional(),
  default: z.string().optional(),
  sticky: z
    .strictObject({
      enabled: z.boolean(),
      hash_fields: z.array(z.string().max(256)).max(20).optional(),
      /** Seconds. */
      ttl: z.int().min(1).max(31_536_000).optional(),
    })
    .optional(),
  cb_config: circuitBreaker.optional(),
});

const feedback = z.strictObject({
  feedback: z
    .strictObject({
      value: z.number().min(-10).max(10).optional(),
      weight: z.number().min(0).max(1).optional(),
      metadata: jsonObject.optional(),
    })
    .optional(),
});

/** In both spellings: lists of checks are not folded, since parameters are the check's own. */
const check = z.strictObject({
  id: z.string().optional(),
  /** Set by who exports saved guardrails; nothing depends on it. */
  name: z.string().nullish(),
  parameters: jsonObject.nullish(),
  is_enabled: z.boolean().nullish(),
  isEnabled: z.boolean().nullish(),
  soft_deny_200: z.boolean().nullish(),
  softDeny200: z.boolean().nullish(),
});

const hook = z.strictObject({
  id: z.string(),
  /** Set by who exports saved guardrails; nothing depends on it. */
  guardrail_version_id: z.string().optional(),
  type: z.enum(['guardrail', 'mutator']).optional(),
  checks: z.array(check).max(100).optional(),
  deny: z.boolean().optional(),
  async: z.boolean().optional(),
  sequential: z.boolean().optional(),
  soft_deny_200: z.boolean().optional(),
  timeout: z.number().min(1).max(600_000).optional(),
  max_text_length: z.number().min(1).max(100_000_000).optional(),
  ...streamFields,
  on_success: feedback.optional(),
  on_fail: feedback.optional(),
  credentials: jsonObject.optional(),
});
const hooks = z.array(hook).max(100);
const guardrailShorthand = z.array(z.union([z.string(), jsonObject])).max(100);

/** Keys that only say where, as whom and by which of a vendor's versions to call; all plain strings. */
export const credentialKeys = [
  'api_key',
  'resource_name',
  'deployment_id',
  'api_version',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'aws_region',
  'vertex_project_id',
  'vertex_region',
  'openai_organization',
  'openai_project',
  'azure_region',
  'azure_deployment_name',
  'azure_deployment_type',
  'azure_endpoint_name',
  'azure_api_version',
  'azure_model_name',
  'azure_auth_mode',
  'azure_entra_scope',
  'aws_s3_bucket',
  'vertex_storage_bucket_name',
  'fireworks_account_id',
  'anthropic_beta',
  'anthropic_version',
  'openai_beta',
] as const;

const credentialShape = Object.fromEntries(
  credentialKeys.map((key) => [key, z.string().optional()]),
) as { [K in (typeof credentialKeys)[number]]: z.ZodOptional<z.ZodString> };

const leaf = z.strictObject({
  ...credentialShape,
  id: z.string().optional(),
  name: z.string().optional(),
  /** Slug of a saved config: the target is that config. */
  config: z.string().min(1).max(256).optional(),
  provider: z.string().min(1).optional(),
  virtual_key: z.string().min(1).optional(),
  passthrough: z.boolean().optional(),
  prompt_id: z.string().optional(),
  weight: z.number().min(0).max(1_000_000_000).optional(),
  strategy: strategy.optional(),
  retry: retry.optional(),
  cache: cache.optional(),
  cb_config: circuitBreaker.optional(),
  request_timeout: timeoutMs.optional(),
  first_byte_timeout: timeoutMs.optional(),
  idle_timeout: timeoutMs.optional(),
  hedge: hedge.optional(),
  override_params: jsonObject.optional(),
  default_params: jsonObject.optional(),
  drop_params: z.array(z.string().max(512)).max(200).optional(),
  custom_host: z.string().max(2048).optional(),
  forward_headers: z.array(z.string()).max(100).optional(),
  strict_open_ai_compliance: z.boolean().optional(),
  /** Refuse requests with fields that the target's format cannot carry. */
  strict_params: z.boolean().optional(),
  /** Ask once more without a parameter that the provider refuses by name. */
  adapt: z.boolean().optional(),
  /** `false`: no other target is asked once a provider has refused for what its content filter found. */
  fallback_on_content_filter: z.boolean().optional(),
  stream_recovery: z
    .enum(['continue', 'off'])
    .describe(
      'What becomes of a stream that is cut or stalls after its first content: `continue` = the targets after it are asked for the rest; `off` (the default) = it ends with an error event.',
    )
    .optional(),
  read_on: z
    .boolean()
    .describe(
      'Whether an answer is read to its end after its caller left, for the usage that it tells there. Off by default: the call is cancelled, and counted by an estimate.',
    )
    .optional(),
  ask_stream_usage: z
    .boolean()
    .describe(
      'Whether streams are asked to tell their usage where the caller does not ask: the event that tells it is kept from the caller. Off by default: such streams are counted by an estimate.',
    )
    .optional(),
  prompt_cache: promptCache
    .describe(
      "Marks for the provider's own cache of prompts where the caller has set none: `auto` = behind tools, system and the turns that stay, of providers that want to be told; `off` (the default) = none are added. `ttl` is how long they are to be kept: `5m` (the default) or `1h`.",
    )
    .optional(),
  input_guardrails: guardrailShorthand.optional(),
  output_guardrails: guardrailShorthand.optional(),
  before_request_hooks: hooks.optional(),
  after_request_hooks: hooks.optional(),
  input_mutators: guardrailShorthand.optional(),
  output_mutators: guardrailShorthand.optional(),
  default_input_guardrails: guardrailShorthand.optional(),
  default_output_guardrails: guardrailShorthand.optional(),
  fetch_integrated_models: z.boolean().optional(),
  responses_store: z
    .enum(['provider', 'gateway'])
    .describe(
      'Who keeps responses and conversations, for the whole document: `gateway` = the service, whichever target answers; `provider` (the default) = each target that can.',
    )
    .optional(),
  vertex_service_account_json: z.union([z.string(), jsonObject]).optional(),
  deployments: z.array(jsonObject).optional(),
  on_status_codes: statusCodes.optional(),
});

export type ConfigNode = z.infer<typeof leaf> & { targets?: ConfigNode[] };

export const configNode: z.ZodType<ConfigNode> = leaf.extend({
  get targets(): z.ZodOptional<z.ZodArray<z.ZodType<ConfigNode>>> {
    return z.array(configNode).min(1).optional();
  },
});

/** One node of a document without its targets, as JSON Schema; built anew at each call. */
export function configSchema(): object {
  return z.toJSONSchema(leaf, { io: 'input', unrepresentable: 'any' });
}
