import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { instantField, instantText, referenceField } from './fields.ts';

const generationsFilterSchema = z.object({
  time_of_generation_min: instantText,
  time_of_generation_max: instantText,
  total_units_min: z.int(),
  total_units_max: z.int(),
  cost_min: z.number(),
  cost_max: z.number(),
  ai_model: z.string(),
  prompt_token_min: z.int(),
  prompt_token_max: z.int(),
  completion_token_min: z.int(),
  completion_token_max: z.int(),
  status_code: z.string(),
  metadata: z.record(z.string(), z.unknown()),
  ai_org_model: z.string(),
  weighted_feedback_min: z.number(),
  weighted_feedback_max: z.number(),
  virtual_keys: z.string(),
  trace_id: z.string(),
  configs: z.string(),
  workspace_slug: z.string(),
  prompt_slug: z.string(),
  page_size: z.number(),
  current_page: z.number(),
});

const logExportsRequestedData = z.array(
  z.enum([
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
    'cost_currency',
    'response_time',
    'response_status_code',
    'mode',
    'config',
    'prompt_slug',
    'metadata',
  ]),
);

const exportItem = z.object({
  id: z.uuid(),
  organisation_id: z.uuid(),
  filters: generationsFilterSchema,
  requested_data: logExportsRequestedData,
  status: z.enum(['draft', 'in_progress', 'success', 'failed', 'stopped']),
  description: z.string(),
  created_at: instantText,
  last_updated_at: instantText,
  created_by: z.uuid(),
  workspace_id: z.uuid(),
  object: z.literal('export'),
});

const generationsFilterSchemaInput = z.object({
  time_of_generation_min: instantField.optional(),
  time_of_generation_max: instantField.optional(),
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
  page_size: z.number().optional(),
  current_page: z.number().optional(),
});

const logExportsRequestedDataInput = z.array(
  z.enum([
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
    'cost_currency',
    'response_time',
    'response_status_code',
    'mode',
    'config',
    'prompt_slug',
    'metadata',
  ]),
);

const updateExportResponse = z.object({
  id: z.uuid(),
  total: z.int(),
  object: z.literal('export'),
});

const exportListResponse = z.object({
  object: z.literal('list'),
  total: z.int(),
  data: z.array(exportItem),
});

const exportTaskResponse = z.object({
  message: z.string(),
  object: z.literal('export'),
});

const downloadLogsResponse = z.object({
  signed_url: z.string(),
});

export const logExportsEndpoints = {
  'log-exports.read': endpoint({
    operationId: 'getLogsExportsExportId',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports/{exportId}',
    answer: exportItem,
  }),
  'log-exports.update': endpoint({
    operationId: 'putLogsExportsExportId',
    tag: 'Logs Export',
    method: 'put',
    path: '/logs/exports/{exportId}',
    body: z.object({
      workspace_id: referenceField.optional(),
      filters: generationsFilterSchemaInput,
      requested_data: logExportsRequestedDataInput.optional(),
    }),
    answer: updateExportResponse,
  }),
  'log-exports.list': endpoint({
    operationId: 'getLogsExports',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports',
    query: z.object({
      workspace_id: referenceField.optional(),
    }),
    answer: exportListResponse,
  }),
  'log-exports.create': endpoint({
    operationId: 'postLogsExports',
    tag: 'Logs Export',
    method: 'post',
    path: '/logs/exports',
    body: z.object({
      workspace_id: referenceField.optional(),
      filters: generationsFilterSchemaInput,
      requested_data: logExportsRequestedDataInput,
    }),
    answer: updateExportResponse,
  }),
  'log-exports.start': endpoint({
    operationId: 'postLogsExportsExportIdStart',
    tag: 'Logs Export',
    method: 'post',
    path: '/logs/exports/{exportId}/start',
    answer: exportTaskResponse,
  }),
  'log-exports.cancel': endpoint({
    operationId: 'postLogsExportsExportIdCancel',
    tag: 'Logs Export',
    method: 'post',
    path: '/logs/exports/{exportId}/cancel',
    answer: exportTaskResponse,
  }),
  'log-exports.download': endpoint({
    operationId: 'getLogsExportsExportIdDownload',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports/{exportId}/download',
    answer: downloadLogsResponse,
  }),
  'log-exports.field-restrictions': endpoint({
    operationId: 'getLogExportFieldRestrictions',
    tag: 'Logs Export',
    method: 'get',
    path: '/logs/exports/field-restrictions',
    query: z.object({
      workspace_id: referenceField.optional(),
    }),
    answer: z.looseObject({
      deniedFields: z.array(z.string()),
    }),
  }),
};
