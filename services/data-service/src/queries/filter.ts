import { GatewayError } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';
import type { EntryColumn } from './entry-columns.ts';
import { Parameters } from './parameters.ts';
import type { Sources } from './rolled/find-sources.ts';
import type { Span } from './rolled/spans.ts';

/**
 * What is asked of entries, and the values bound to its placeholders. Input never becomes SQL text.
 * The same for all attempts of a request are conditions of `scope` and of `request`, of one target those
 * of `target`: they hold for rows as for entries. Those of `entry` hold for entries only.
 */
export interface Condition {
  /** Organisation and workspaces. */
  readonly tenant: readonly string[];
  /** The same, and the time, by the name of its column: what tables are sorted by. */
  readonly scope: (time: string) => readonly string[];
  readonly request: readonly string[];
  readonly target: readonly string[];
  readonly entry: readonly string[];
  /** Columns that the conditions beyond the scope look at. */
  readonly columns: readonly EntryColumn[];
  /** Keys of metadata that they ask for by name. */
  readonly metadataKeys: readonly string[];
  /** From where entries are read; all from attempts, where it is not told. */
  readonly sources?: Sources;
  readonly parameters: Parameters;
}

/** The range that queries see: within what the timestamp column can hold. */
export interface Range {
  fromMs: number;
  toMs: number;
}

/** Later than any question. */
export const rangeEndMs = Date.UTC(2200, 0, 1);

export function rangeOf(filter: analytics.Filter): Range {
  const clamp = (ms: bigint) => Math.max(0, Math.min(Number(ms), rangeEndMs));
  return { fromMs: clamp(filter.fromMs), toMs: clamp(filter.toMs) };
}

/** Whose entries, and of when. */
export function placeOf(filter: analytics.Filter): { organisationId: string; span: Span } {
  const { fromMs, toMs } = rangeOf(filter);
  return {
    organisationId: filter.organisationId,
    span: { from: fromMs, to: Math.max(fromMs, toMs + 1) },
  };
}

/** Entries that every part of the filter admits; lists mean "any of", an empty one "no matter". */
export function conditionOf(filter: analytics.Filter): Condition {
  // The caller's organisation is the wall between tenants: its absence is an error of the caller, not "all".
  if (filter.organisationId === '')
    throw new GatewayError('admin.validation', { field: 'organisation_id' });
  const parameters = new Parameters();
  const { fromMs, toMs } = rangeOf(filter);
  const tenant = [`organisation_id = ${parameters.bind('String', filter.organisationId)}`];
  if (filter.workspaceIds.length > 0)
    tenant.push(`workspace_id IN ${parameters.bindTexts(filter.workspaceIds)}`);
  const [from, to] = [parameters.bind('Int64', fromMs), parameters.bind('Int64', toMs)];
  const scope = (time: string) => [
    ...tenant,
    `${time} >= fromUnixTimestamp64Milli(${from}, 'UTC')`,
    `${time} <= fromUnixTimestamp64Milli(${to}, 'UTC')`,
  ];

  const levels = { request: [] as string[], target: [] as string[], entry: [] as string[] };
  const columns = new Set<EntryColumn>();
  const ask = (level: keyof typeof levels, of: readonly EntryColumn[], sql: string) => {
    levels[level].push(sql);
    for (const column of of) columns.add(column);
  };
  const anyOf = (level: keyof typeof levels, column: EntryColumn, values: readonly string[]) => {
    if (values.length > 0) ask(level, [column], `${column} IN ${parameters.bindTexts(values)}`);
  };
  const within = (
    of: readonly EntryColumn[],
    sql: string,
    type: 'UInt64' | 'Float64',
    bounds: readonly [min: bigint | number | undefined, max: bigint | number | undefined],
  ) => {
    const [min, max] = bounds.map((bound) =>
      bound === undefined ? undefined : parameters.bind(type, bound),
    );
    if (min !== undefined) ask('entry', of, `${sql} >= ${min}`);
    if (max !== undefined) ask('entry', of, `${sql} <= ${max}`);
  };

  anyOf('request', 'api_key_id', filter.apiKeyIds);
  if (filter.userId !== undefined) {
    // What nobody did belongs to nobody, not to a user without a name.
    ask('request', ['user_id'], "user_id != ''");
    ask('request', ['user_id'], `user_id = ${parameters.bind('String', filter.userId)}`);
  }
  anyOf('request', 'trace_id', filter.traceIds);
  anyOf('request', 'span_id', filter.spanIds);
  anyOf('request', 'endpoint', filter.endpoints);
  for (const [key, value] of Object.entries(filter.metadata)) {
    const name = parameters.bind('String', key);
    // A missing key reads as an empty text, hence mapContains.
    ask(
      'request',
      ['metadata'],
      `(mapContains(metadata, ${name}) AND metadata[${name}] = ${parameters.bind('String', value)})`,
    );
  }
  if (filter.configs.length > 0) {
    const configs = parameters.bindTexts(filter.configs);
    ask(
      'request',
      ['config_slug', 'config_id'],
      `(config_slug IN ${configs} OR config_id IN ${configs})`,
    );
  }
  anyOf('target', 'prompt_slug', filter.promptSlugs);
  anyOf('target', 'capability_name', filter.capabilityNames);
  anyOf('target', 'provider_slug', filter.virtualKeys);
  anyOf('target', 'model', filter.aiModels);
  if (filter.aiOrgModels.length > 0)
    ask(
      'target',
      ['provider', 'model'],
      `concat(provider, '__', model) IN ${parameters.bindTexts(filter.aiOrgModels)}`,
    );

  const { statusCodes } = filter;
  if (statusCodes.length > 0)
    ask(
      'entry',
      ['status_code'],
      `status_code IN ${parameters.bind('Array(UInt32)', statusCodes)}`,
    );
  if (filter.isSuccess !== undefined)
    ask(
      'entry',
      ['status_code'],
      `status_code ${filter.isSuccess ? '' : 'NOT '}BETWEEN 200 AND 299`,
    );
  anyOf('entry', 'cache_status', filter.cacheStatuses);
  anyOf('entry', 'error_code', filter.errorCodes);
  const tokens = ['input_tokens', 'output_tokens'] as const;
  within(tokens, 'input_tokens + output_tokens', 'UInt64', [
    filter.totalUnitsMin,
    filter.totalUnitsMax,
  ]);
  within(['input_tokens'], 'input_tokens', 'UInt64', [
    filter.promptTokenMin,
    filter.promptTokenMax,
  ]);
  within(['output_tokens'], 'output_tokens', 'UInt64', [
    filter.completionTokenMin,
    filter.completionTokenMax,
  ]);
  within(['cost_nano_usd'], 'cost_nano_usd / 1e7', 'Float64', [filter.costMin, filter.costMax]);
  within(['weighted_feedback'], 'weighted_feedback', 'Float64', [
    filter.weightedFeedbackMin,
    filter.weightedFeedbackMax,
  ]);
  if (filter.search !== '') {
    const text = parameters.bind('String', filter.search);
    const found = (sql: string) => `positionCaseInsensitiveUTF8(${sql}, ${text}) > 0`;
    const places = ['request_url', 'model', 'error_code'] as const;
    ask(
      'entry',
      [...places, 'metadata'],
      `(${places.map(found).join(' OR ')}
        OR arrayExists(value -> ${found('value')}, mapValues(metadata)))`,
    );
  }
  return {
    tenant,
    scope,
    ...levels,
    columns: [...columns],
    metadataKeys: Object.keys(filter.metadata),
    parameters,
  };
}
