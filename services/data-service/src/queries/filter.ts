import { GatewayError } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';

/** A condition on `usage_records` and the values bound to its placeholders. Input never becomes SQL text. */
export interface Condition {
  sql: string;
  params: Record<string, unknown>;
}

/** The range that queries see: within what the timestamp column can hold. */
export interface Range {
  fromMs: number;
  toMs: number;
}

const rangeEndMs = Date.UTC(2200, 0, 1);

export function rangeOf(filter: analytics.Filter): Range {
  const clamp = (ms: bigint) => Math.max(0, Math.min(Number(ms), rangeEndMs));
  return { fromMs: clamp(filter.fromMs), toMs: clamp(filter.toMs) };
}

/** Rows that every part of the filter admits; lists mean "any of", an empty one "no matter". */
export function conditionOf(filter: analytics.Filter): Condition {
  // The caller's organisation is the wall between tenants: its absence is an error of the caller, not "all".
  if (filter.organisationId === '')
    throw new GatewayError('admin.validation', { field: 'organisation_id' });
  const { fromMs, toMs } = rangeOf(filter);
  const parts = [
    'organisation_id = {organisation_id:String}',
    "created_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')",
    "created_at <= fromUnixTimestamp64Milli({to_ms:Int64}, 'UTC')",
  ];
  const params: Record<string, unknown> = {
    organisation_id: filter.organisationId,
    from_ms: fromMs,
    to_ms: toMs,
  };

  const within = (expression: string, type: 'Float64' | 'UInt64', name: string, bounds: Bounds) => {
    for (const [side, operator] of sides) {
      const bound = bounds[side];
      if (bound === undefined) continue;
      params[`${name}_${side}`] = typeof bound === 'bigint' ? bound.toString() : bound;
      parts.push(`${expression} ${operator} {${name}_${side}:${type}}`);
    }
  };
  const anyOf = (sql: string, name: string, values: readonly (string | number)[]) => {
    if (values.length === 0) return;
    params[name] = values;
    parts.push(sql);
  };

  anyOf('workspace_id IN {workspace_ids:Array(String)}', 'workspace_ids', filter.workspaceIds);
  within('input_tokens + output_tokens', 'UInt64', 'total_units', {
    min: filter.totalUnitsMin,
    max: filter.totalUnitsMax,
  });
  within('input_tokens', 'UInt64', 'prompt_token', {
    min: filter.promptTokenMin,
    max: filter.promptTokenMax,
  });
  within('output_tokens', 'UInt64', 'completion_token', {
    min: filter.completionTokenMin,
    max: filter.completionTokenMax,
  });
  within(knownCents, 'Float64', 'cost', { min: filter.costMin, max: filter.costMax });

  anyOf('status_code IN {status_codes:Array(UInt32)}', 'status_codes', filter.statusCodes);
  anyOf('provider_slug IN {virtual_keys:Array(String)}', 'virtual_keys', filter.virtualKeys);
  anyOf(
    '(config_slug IN {configs:Array(String)} OR config_id IN {configs:Array(String)})',
    'configs',
    filter.configs,
  );
  anyOf('api_key_id IN {api_key_ids:Array(String)}', 'api_key_ids', filter.apiKeyIds);
  if (filter.userId !== undefined) {
    params.user_id = filter.userId;
    // What nobody did belongs to nobody, not to a user without a name.
    parts.push("user_id != '' AND user_id = {user_id:String}");
  }
  anyOf('trace_id IN {trace_ids:Array(String)}', 'trace_ids', filter.traceIds);
  anyOf('span_id IN {span_ids:Array(String)}', 'span_ids', filter.spanIds);
  anyOf(
    "concat(provider, '__', model) IN {ai_org_models:Array(String)}",
    'ai_org_models',
    filter.aiOrgModels,
  );
  // Records do not name a prompt yet, so none matches one.
  if (filter.promptSlugs.length > 0) parts.push('false');

  const pairs = Object.entries(filter.metadata);
  if (pairs.length > 0) {
    params.metadata_keys = pairs.map(([key]) => key);
    params.metadata_values = pairs.map(([, value]) => value);
    // A missing key reads as an empty string, hence mapContains.
    parts.push(`arrayAll((key, value) -> mapContains(metadata, key) AND metadata[key] = value,
      {metadata_keys:Array(String)}, {metadata_values:Array(String)})`);
  }
  return { sql: parts.join('\n  AND '), params };
}

/** An unknown cost is shown as nothing spent, so a bound treats it so. */
const knownCents = 'if(cost_known, cost_nano_usd, 0) / 1e7';

type Bounds = { min: bigint | number | undefined; max: bigint | number | undefined };
const sides = [
  ['min', '>='],
  ['max', '<='],
] as const;
