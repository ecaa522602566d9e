import { z } from 'zod';
import { cacheStatuses } from '../../cache-status.ts';
import {
  descriptionField,
  instantField,
  instantText,
  referenceField,
} from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { inOrder, requestRanges } from '../kernel/in-order.ts';
import { pageQuery } from '../kernel/paging.ts';

/** What can be exported of a logged request. */
const exportFields = [
  'id',
  'trace_id',
  'created_at',
  'request',
  'response',
  'is_success',
  'ai_org',
  'ai_model',
  'req_units',
  'res_units',
  'total_units',
  'request_url',
  'cost',
  'cost_known',
  'cost_currency',
  'response_time',
  'response_status_code',
  'mode',
  'config',
  'prompt_slug',
  'metadata',
  'call',
] as const;
export type ExportField = (typeof exportFields)[number];

/** What the file of an export is; JSON Lines is the published one. */
const exportFormats = ['jsonl', 'parquet'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Names that other tools have for these fields. */
const fieldAliases: Readonly<Record<string, ExportField>> = {
  ai_provider: 'ai_org',
  provider: 'ai_org',
  model: 'ai_model',
  request_tokens: 'req_units',
  response_tokens: 'res_units',
  total_tokens: 'total_units',
  status_code: 'response_status_code',
};

/** The field that is meant by a name, if any is. */
export function exportField(name: string): ExportField | undefined {
  const field = exportFields.find((each) => each === name);
  return field ?? (Object.hasOwn(fieldAliases, name) ? fieldAliases[name] : undefined);
}

/** All names of fields. */
export const exportFieldName = z.enum([...exportFields, ...Object.keys(fieldAliases)]);

const requestedData = z
  .array(
    z.union([
      z.enum(exportFields),
      z
        .enum(Object.keys(fieldAliases))
        .transform((alias): ExportField => exportField(alias) as ExportField),
    ]),
  )
  .min(1)
  .max(100)
  .transform((fields) => [...new Set(fields)]);

const instant = instantField.transform((date) => date.toISOString());
const count = z.int().min(0).optional();
const amount = z.number().min(0).optional();
const score = z.number().min(-10).max(10).optional();
/** One value, or several with commas between them. */
const list = z.string().max(8192).optional();

const statusesOfCaches: readonly string[] = cacheStatuses;
const cacheStatusList = list.refine(
  (text = '') => text.split(',').every((each) => ['', ...statusesOfCaches].includes(each.trim())),
  `must hold some of ${cacheStatuses.join(', ')}, with commas between them`,
);

/** Those that are told, the earliest first. */
function sorted(...instants: readonly (string | undefined)[]): string[] {
  return instants.filter((each) => each !== undefined).sort();
}

/** The filters of lists of logs, as JSON. Some tools say when by `created_at`. */
const filters = z
  .object({
    time_of_generation_min: instant.optional(),
    time_of_generation_max: instant.optional(),
    created_at: z.object({ gte: instant.optional(), lte: instant.optional() }).optional(),
    total_units_min: count,
    total_units_max: count,
    cost_min: amount,
    cost_max: amount,
    ai_model: list,
    prompt_token_min: count,
    prompt_token_max: count,
    completion_token_min: count,
    completion_token_max: count,
    status_code: z
      .string()
      .max(1024)
      .regex(/^\s*\d{3}(\s*,\s*\d{3})*\s*$/, 'must hold statuses, with commas between them')
      .optional(),
    metadata: z.record(z.string().max(128), z.unknown()).optional(),
    ai_org_model: list,
    weighted_feedback_min: score,
    weighted_feedback_max: score,
    virtual_keys: list,
    trace_id: list,
    configs: list,
    workspace_slug: referenceField.optional(),
    prompt_slug: list,
    mode: list,
    tool: list,
    api_key_ids: list,
    span_id: list,
    error_code: list,
    cache_status: cacheStatusList,
    is_success: z.boolean().optional(),
    search: z.string().trim().max(512).optional(),
    page_size: z.int().min(1).max(50_000).optional(),
    current_page: z.int().min(0).max(1_000_000).optional(),
  })
  .transform(({ created_at, ...named }) => ({
    ...named,
    // Where both say when, both hold.
    time_of_generation_min: sorted(named.time_of_generation_min, created_at?.gte).at(-1),
    time_of_generation_max: sorted(named.time_of_generation_max, created_at?.lte)[0],
  }))
  .superRefine(inOrder(...requestRanges));
export type ExportFilters = z.output<typeof filters>;

const shownFilters = z.object({
  time_of_generation_min: instantText.optional(),
  time_of_generation_max: instantText.optional(),
  total_units_min: z.int().optional(),
  total_units_max: z.int().optional(),
  cost_min: z.number().optional(),
  cost_max: z.number().optional(),
  ai_model: z.string().optional(),
  prompt_token_min: z.int().optional(),
  prompt_token_max: z.int().optional(),
  completion_token_min: z.int().optional(),
  completion_token_max: z.int().optional(),
  status_code: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  ai_org_model: z.string().optional(),
  weighted_feedback_min: z.number().optional(),
  weighted_feedback_max: z.number().optional(),
  virtual_keys: z.string().optional(),
  trace_id: z.string().optional(),
  configs: z.string().optional(),
  workspace_slug: z.string().optional(),
  prompt_slug: z.string().optional(),
  mode: z.string().optional(),
  tool: z.string().optional(),
  api_key_ids: z.string().optional(),
  span_id: z.string().optional(),
  error_code: z.string().optional(),
  cache_status: z.string().optional(),
  is_success: z.boolean().optional(),
  search: z.string().optional(),
  page_size: z.number().optional(),
  current_page: z.number().optional(),
});

const exportItem = z
  .object({
    id: z.uuid(),
    organisation_id: z.uuid(),
    filters: shownFilters,
    requested_data: z.array(z.enum(exportFields)),
    status: z.enum(['draft', 'in_progress', 'success', 'failed', 'stopped']),
    /** Rows written so far, once it was started. */
    total: z.int().optional(),
    /** Why it failed. */
    error: z.string().optional(),
    format: z.enum(exportFormats),
    all: z.boolean(),
    description: z.string(),
    created_at: instantText,
    last_updated_at: instantText,
    created_by: z.uuid(),
    workspace_id: z.uuid(),
    object: z.literal('export'),
  })
  .register(shapeNames, { name: 'LogExport' });

/** `total` counts the rows written; a draft has none. */
const written = z.object({ id: z.uuid(), total: z.int(), object: z.literal('export') });
const told = z.object({ message: z.string(), object: z.literal('export') });

export const logExportsEndpoints = {
  'log-exports.field-restrictions': endpoint({
    operationId: 'getLogExportFieldRestrictions',
    summary: 'List the fields that exports may not have',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports/field-restrictions',
    access: { keys: anyKey, scopes: ['logs.export', 'logs.list'] },
    query: z.object({ workspace_id: referenceField.optional() }),
    answer: z.object({ deniedFields: z.array(z.string()) }),
  }),
  'log-exports.read': endpoint({
    operationId: 'getLogsExportsExportId',
    summary: 'Show one export of logs',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports/{exportId}',
    access: { keys: anyKey, scopes: ['logs.list'] },
    answer: exportItem,
  }),
  'log-exports.update': endpoint({
    operationId: 'putLogsExportsExportId',
    summary: 'Change an export that has not begun',
    tag: 'Logs Export',
    method: 'put',
    path: '/logs/exports/{exportId}',
    access: { keys: anyKey, scopes: ['logs.export'] },
    audit: { resourceType: 'log_exports', action: 'update' },
    body: z.object({
      /** Named by tools that send it everywhere; an export stays in its workspace. */
      workspace_id: referenceField.nullish(),
      filters,
      requested_data: requestedData.optional(),
      description: descriptionField.optional(),
      format: z.enum(exportFormats).optional(),
      all: z.boolean().optional(),
    }),
    answer: written,
  }),
  'log-exports.list': endpoint({
    operationId: 'getLogsExports',
    summary: 'List exports of logs',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports',
    access: { keys: anyKey, scopes: ['logs.list'] },
    query: z
      .object({ workspace_id: referenceField.optional() })
      .and(pageQuery({ default: 1000, max: 1000 })),
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(exportItem),
    }),
  }),
  'log-exports.create': endpoint({
    operationId: 'postLogsExports',
    summary: 'Describe an export of logs',
    tag: 'Logs Export',
    method: 'post',
    path: '/logs/exports',
    access: { keys: anyKey, scopes: ['logs.export'] },
    audit: { resourceType: 'log_exports', action: 'create' },
    body: z.object({
      workspace_id: referenceField.nullish(),
      filters,
      requested_data: requestedData,
      description: descriptionField.default(''),
      format: z.enum(exportFormats).default('jsonl'),
      /** All that the filters admit: their page says nothing then. */
      all: z.boolean().default(false),
    }),
    answer: written,
  }),
  'log-exports.start': endpoint({
    operationId: 'postLogsExportsExportIdStart',
    summary: 'Begin an export of logs',
    tag: 'Logs Export',
    method: 'post',
    path: '/logs/exports/{exportId}/start',
    access: { keys: anyKey, scopes: ['logs.export'] },
    audit: { resourceType: 'log_exports', action: 'export' },
    answer: told,
  }),
  'log-exports.cancel': endpoint({
    operationId: 'postLogsExportsExportIdCancel',
    summary: 'Stop an export of logs',
    tag: 'Logs Export',
    method: 'post',
    path: '/logs/exports/{exportId}/cancel',
    access: { keys: anyKey, scopes: ['logs.export'] },
    audit: { resourceType: 'log_exports', action: 'export' },
    answer: told,
  }),
  'log-exports.download': endpoint({
    operationId: 'getLogsExportsExportIdDownload',
    summary: 'Get the address of an export’s file',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports/{exportId}/download',
    access: { keys: anyKey, scopes: ['logs.export'] },
    errors: [400, 401, 403, 404, 410],
    answer: z.object({ signed_url: z.string() }),
  }),
};
