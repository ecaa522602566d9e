import { z } from 'zod';

/**
 * The config document: a tenant's routing instructions, saved or inline.
 * Names are snake_case; camelCase spellings of the same names are accepted and
 * folded (`foldConfigNames`), except inside maps whose keys belong to the user.
 */

const statusCodes = z.array(z.int().min(100).max(599));
const jsonObject = z.record(z.string(), z.json());
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
});

const circuitBreaker = z.strictObject({
  failure_threshold: z.number().min(1).optional(),
  failure_threshold_percentage: z.number().min(0).max(100).optional(),
  minimum_requests: z.int().min(1).optional(),
  cooldown_interval: z.int().min(30_000),
  failure_status_codes: statusCodes.optional(),
});

const strategy = z.strictObject({
  mode: z.enum(['single', 'fallback', 'loadbalance', 'conditional']),
  on_status_codes: statusCodes.optional(),
  // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
  conditions: z.array(z.strictObject({ query: jsonObject, then: z.string() })).optional(),
  default: z.string().optional(),
  sticky: z
    .strictObject({
      enabled: z.boolean(),
      hash_fields: z.array(z.string()).optional(),
      ttl: z.int().min(1).optional(),
    })
    .optional(),
  cb_config: circuitBreaker.optional(),
});

const hook = z.looseObject({ id: z.string() });
const guardrailShorthand = z.array(z.union([z.string(), jsonObject]));

/** Keys that only say where and as whom to call; all plain strings. */
const credentialKeys = [
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
] as const;

const credentialShape = Object.fromEntries(
  credentialKeys.map((key) => [key, z.string().optional()]),
) as { [K in (typeof credentialKeys)[number]]: z.ZodOptional<z.ZodString> };

const leaf = z.strictObject({
  ...credentialShape,
  id: z.string().optional(),
  name: z.string().optional(),
  provider: z.string().min(1).optional(),
  virtual_key: z.string().min(1).optional(),
  passthrough: z.boolean().optional(),
  prompt_id: z.string().optional(),
  weight: z.number().min(0).optional(),
  strategy: strategy.optional(),
  retry: retry.optional(),
  cache: cache.optional(),
  cb_config: circuitBreaker.optional(),
  request_timeout: timeoutMs.optional(),
  override_params: jsonObject.optional(),
  default_params: jsonObject.optional(),
  drop_params: z.array(z.string()).optional(),
  custom_host: z.string().max(2048).optional(),
  forward_headers: z.array(z.string()).optional(),
  strict_open_ai_compliance: z.boolean().optional(),
  input_guardrails: guardrailShorthand.optional(),
  output_guardrails: guardrailShorthand.optional(),
  before_request_hooks: z.array(hook).optional(),
  after_request_hooks: z.array(hook).optional(),
  input_mutators: guardrailShorthand.optional(),
  output_mutators: guardrailShorthand.optional(),
  default_input_guardrails: guardrailShorthand.optional(),
  default_output_guardrails: guardrailShorthand.optional(),
  fetch_integrated_models: z.boolean().optional(),
  vertex_service_account_json: z.union([z.string(), jsonObject]).optional(),
  deployments: z.array(jsonObject).optional(),
  on_status_codes: statusCodes.optional(),
});

export type ConfigNode = z.infer<typeof leaf> & { targets?: ConfigNode[] };

const node: z.ZodType<ConfigNode> = leaf.extend({
  get targets(): z.ZodOptional<z.ZodArray<z.ZodType<ConfigNode>>> {
    return z.array(node).min(1).max(1000).optional();
  },
});

export type ConfigParseResult =
  | { ok: true; config: ConfigNode }
  | { ok: false; faults: readonly string[]; field: string };

/** Deepest nesting of targets that is looked at; deeper documents are refused. */
const depthMax = 32;

/**
 * Checks a document. Unknown keys are faults when `unknownKeys` is 'refuse'
 * (saving) and are left out when it is 'ignore' (inline, so that a document
 * written for a newer release still works).
 */
export function parseConfigDocument(
  value: unknown,
  unknownKeys: 'refuse' | 'ignore',
): ConfigParseResult {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fault('config', 'must be a JSON object');
  if ('options' in value)
    return fault('config.options', 'is the old format; use targets and strategy');
  if (targetDepth(value, 0) > depthMax)
    return fault('config.targets', `is nested deeper than ${depthMax} levels`);
  let parsed = node.safeParse(foldConfigNames(value));
  if (!parsed.success && unknownKeys === 'ignore') {
    const pruned = structuredClone(foldConfigNames(value));
    for (const issue of parsed.error.issues)
      if (issue.code === 'unrecognized_keys') removeKeys(pruned, issue.path, issue.keys);
    parsed = node.safeParse(pruned);
  }
  if (!parsed.success) {
    const faults = parsed.error.issues
      .slice(0, 20)
      .map((issue) => `path: ${configPath(issue.path)}, message: ${issue.message}`);
    return { ok: false, faults, field: configPath(parsed.error.issues[0]?.path ?? []) };
  }
  return { ok: true, config: parsed.data };
}

function fault(field: string, message: string): ConfigParseResult {
  return { ok: false, field, faults: [`path: ${field}, message: ${message}`] };
}

/** `config.targets[0].retry.attempts`, the form used in errors and in the option-index header. */
export function configPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : `${text}.${String(part)}`),
    'config',
  );
}

/** Maps whose keys belong to the user, not to us. */
const opaqueKeys = new Set([
  'override_params',
  'default_params',
  'params',
  'checks',
  'vertex_service_account_json',
  'conditions',
  'input_guardrails',
  'output_guardrails',
  'default_input_guardrails',
  'default_output_guardrails',
  'metadata',
]);

/** camelCase names to snake_case, leaving user-owned maps alone. */
export function foldConfigNames(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(foldConfigNames);
  if (typeof value !== 'object' || value === null) return value;
  const folded: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const name = foldName(key);
    folded[name] = opaqueKeys.has(name) ? inner : foldConfigNames(inner);
  }
  return folded;
}

function foldName(key: string): string {
  if (key === 'strictOpenAiCompliance' || key === 'strictOpenAICompliance')
    return 'strict_open_ai_compliance';
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function targetDepth(value: unknown, depth: number): number {
  if (depth > depthMax || typeof value !== 'object' || value === null) return depth;
  const targets = (value as { targets?: unknown }).targets;
  if (!Array.isArray(targets)) return depth;
  return targets.reduce<number>(
    (deepest, target) => Math.max(deepest, targetDepth(target, depth + 1)),
    depth + 1,
  );
}

function removeKeys(root: unknown, path: readonly PropertyKey[], keys: readonly string[]): void {
  let holder: unknown = root;
  for (const part of path) holder = (holder as Record<PropertyKey, unknown> | undefined)?.[part];
  if (typeof holder !== 'object' || holder === null) return;
  for (const key of keys) delete (holder as Record<string, unknown>)[key];
}
