import { z } from 'zod';
import { cacheStatuses } from '../../cache-status.ts';
import { instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey, workspaceKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';
import { commaList, queryFlag, queryInteger } from '../kernel/paging.ts';
import { analyticsQuery } from './analytics.ts';

const list = commaList().optional();

const listLogsQuery = analyticsQuery.and(
  z.object({
    search: z.string().trim().max(512).optional(),
    ai_model: list,
    endpoint: list,
    cache_status: commaList()
      .pipe(z.array(z.enum(cacheStatuses)))
      .optional(),
    error_code: list,
    is_success: queryFlag.optional(),
    page_size: queryInteger(1, 1000).optional(),
    cursor: z.string().max(256).optional(),
  }),
);

const methods = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'] as const;
const text = z.string();
const ms = z.int();

/** The published columns, by their published names. */
const metrics = z.object({
  id: z.uuid(),
  organisation_id: text,
  organisation_name: text.optional(),
  workspace_slug: text.nullable(),
  created_at: instantText,
  is_success: z.boolean(),
  ai_org: text,
  ai_model: text,
  req_units: z.number(),
  res_units: z.number(),
  total_units: z.number(),
  cost: z.number(),
  cost_known: z.boolean(),
  cost_currency: z.literal('USD'),
  unpriced_units: z.array(text).optional(),
  request_url: text,
  request_method: text,
  response_status_code: z.int(),
  response_time: ms,
  is_proxy_call: z.boolean(),
  cache_status: text.nullable(),
  cache_type: text.nullable(),
  stream_mode: z.int().nullable(),
  retry_success_count: z.int(),
  trace_id: text,
  internal_trace_id: text,
  span_id: text,
  span_name: text,
  parent_span_id: text,
  mode: text,
  virtual_key: text,
  source: text,
  runtime: text,
  runtime_version: text,
  sdk_version: text,
  config: text,
  config_id: text,
  config_version_id: text,
  prompt_id: text,
  prompt_slug: text,
  prompt_version_id: text,
  last_used_option_index: z.int(),
  log_store_file_path_format: text.optional(),
  // The dots are part of the published names; the two are parallel.
  'metadata.key': z.array(text).meta({ description: 'The keys of the metadata.' }),
  'metadata.value': z.array(text).meta({ description: 'Their values, in the same order.' }),
  api_key_id: text,
  request_parsing_time: ms,
  pre_processing_time: ms,
  cache_processing_time: ms,
  response_parsing_time: ms,
  gateway_processing_time: ms,
  upstream_response_time: ms,
});

const body = z.record(text, z.unknown()).optional();
const headers = z.record(text, text).optional();
const contentState = z.enum([
  'shown',
  'partly-shown',
  'hidden',
  'not-kept',
  'pending',
  'expired',
  'dropped',
  'store-away',
]);
const sideOfProvider = z
  .object({ url: text.optional(), method: text.optional(), headers, body })
  .optional();
/** What the provider was sent and sent, where these are not the caller's. */
const providerSide = {
  transformedRequest: sideOfProvider,
  originalResponse: sideOfProvider,
};

/** Of a call of an MCP server or of an agent. */
const call = z
  .object({
    method: text,
    rpc_id: text.optional(),
    /** Of the tool, prompt or skill; of a resource its URI. */
    capability: text.optional(),
    tool_failed: z.boolean(),
    tool_error: text.optional(),
    rpc_error_code: z.int().optional(),
    upstream_status: z.int().optional(),
    session_id: text.optional(),
    protocol_version: text.optional(),
    upstream_protocol_version: text.optional(),
    transport_client: text.optional(),
    transport_upstream: text.optional(),
    auth_type: text.optional(),
    upstream_token_refreshed: z.boolean(),
    task_id: text.optional(),
    context_id: text.optional(),
    task_state: text.optional(),
    usage_missing: z.boolean(),
  })
  .optional();

const log = z
  .object({
    _id: z.uuid(),
    request: z.object({
      url: text,
      method: z.enum(methods),
      serviceHeaders: z.record(text, text),
      headers,
      body,
    }),
    response: z.object({
      status: z.int(),
      responseTime: ms,
      lastUsedOptionJsonPath: text,
      headers,
      body,
    }),
    ...providerSide,
    /** Where one log is read: what became of its bodies. */
    content: contentState.optional(),
    organisation_id: text,
    created_at: instantText,
    metrics,
    log_format: text.optional(),
    /** The request that it is a part of. */
    request_id: z.uuid(),
    call,
    error: z.object({ code: text, cause: text.optional(), message: text.optional() }).optional(),
  })
  .register(shapeNames, { name: 'Log' });

const cents = z.number();
const counts = z.record(text, z.int());

const attempt = z
  .object({
    id: z.uuid(),
    /** The same for a target and its retries. */
    log_id: z.uuid(),
    outcome: text,
    status_code: z.int(),
    error: z.object({ code: text, cause: text.optional(), message: text.optional() }).optional(),
    provider: text,
    provider_slug: text.nullable(),
    ai_model: text,
    response_model: text.optional(),
    option_path: text,
    retry_count: z.int(),
    finish_reason: text.optional(),
    started_after: z.number(),
    latency: z.number(),
    first_byte_after: z.number().nullable(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    cache_read_tokens: z.int(),
    cache_write_tokens: z.int(),
    reasoning_tokens: z.int(),
    usage_estimated: z.boolean(),
    usage_implausible: z.boolean(),
    cost: cents.nullable(),
    adjusted_cost: cents.optional(),
    price_layer: text.optional(),
    price_book_version: text.optional(),
    unpriced_units: z.array(text).optional(),
    cache_status: text,
    cache_type: text.nullable(),
    limits: z.object({
      reserved: counts,
      settled: counts,
      would_have_refused: z.array(text),
      degraded: z.boolean(),
    }),
    hooks: z.array(z.unknown()),
    call,
  })
  .register(shapeNames, { name: 'RequestAttempt' });

const request = z
  .object({
    object: z.literal('request'),
    id: z.uuid(),
    trace_id: text,
    created_at: instantText,
    organisation_id: text,
    workspace_id: text,
    workspace_slug: text,
    api_key_id: text,
    user_id: text.nullable(),
    method: text,
    url: text,
    endpoint: text,
    stream: z.boolean(),
    config: text.nullable(),
    config_version_id: text.nullable(),
    status_code: z.int(),
    is_success: z.boolean(),
    error: z.object({ code: text, cause: text.optional(), message: text.optional() }).optional(),
    response_time: z.number(),
    /** US cents, of all attempts; null where that of one is not known. */
    cost: cents.nullable(),
    total_units: z.int(),
    attempts: z.array(attempt),
    /** Of each target that was asked. */
    contents: z.array(
      z.object({
        log_id: z.uuid(),
        content: contentState,
        request: z.object({ headers, serviceHeaders: headers, body }).optional(),
        response: z.object({ headers, body }).optional(),
        ...providerSide,
      }),
    ),
    /** There are more attempts than are shown. */
    is_cut_off: z.boolean(),
    decision: z.record(text, z.unknown()).nullable(),
    metadata: z.record(text, text),
    gateway: z.object({ replica: text, version: text }),
  })
  .register(shapeNames, { name: 'RequestRecord' });

const trace = z
  .object({
    object: z.literal('trace'),
    id: text,
    /** US cents, of all requests; null where that of one is not known. */
    cost: cents.nullable(),
    total_units: z.int(),
    requests: z.array(
      request.omit({ decision: true, is_cut_off: true }).extend({
        depth: z.int(),
        parent_request_id: z.uuid().nullable(),
        span_id: text,
        span_name: text,
        parent_span_id: text,
      }),
    ),
    is_cut_off: z.boolean(),
  })
  .register(shapeNames, { name: 'Trace' });

const elapsed = z.int().min(0).max(86_400_000).optional();
const sentHeaders = z.record(z.string().max(256), z.string().max(8192)).optional();
const sentBody = z.record(z.string(), z.unknown());
const spanText = z.string().max(512).optional();

const customLog = z.object({
  request: z.object({
    url: z.string().min(1).max(2048),
    method: z.string().max(16).toUpperCase().pipe(z.enum(methods)).default('POST'),
    headers: sentHeaders,
    body: sentBody,
    provider: z.string().max(255).optional(),
  }),
  response: z.object({
    status: z.int().min(100).max(999).default(200),
    headers: sentHeaders,
    body: sentBody,
    response_time: elapsed,
    time: elapsed,
    streamingMode: z.boolean().default(false),
  }),
  // Both spellings are in use. They stand beside the others, not among them: generated clients would want an absent one to have the others' type.
  metadata: z
    .object({
      trace_id: spanText,
      traceId: spanText,
      span_id: spanText,
      spanId: spanText,
      span_name: spanText,
      spanName: spanText,
      parent_span_id: spanText,
      parentSpanId: spanText,
    })
    .and(z.record(z.string(), z.union([z.string().max(1024), z.number(), z.boolean()])))
    .refine((metadata) => Object.keys(metadata).length <= 100, 'may hold 100 entries at most')
    .default({}),
});

export const logsEndpoints = {
  'logs.create': endpoint({
    operationId: 'postLogs',
    summary: 'Write a request that went past the gateway into the ledger',
    tag: 'Logs',
    method: 'post',
    path: '/logs',
    // Both, which the operation asks for.
    access: { keys: workspaceKey, scopes: ['logs.write', 'completions.write'] },
    body: z.union([customLog, z.array(customLog).min(1).max(1000)]),
    answer: z.object({
      status: z.literal('success'),
      message: z.string(),
      /** In the order in which they were sent. */
      log_ids: z.array(z.uuid()),
    }),
  }),
  'logs.list': endpoint({
    operationId: 'listLogs',
    summary: 'List requests, the latest first',
    tag: 'Logs',
    method: 'get',
    path: '/logs',
    access: { keys: anyKey, scopes: ['logs.list'] },
    query: listLogsQuery,
    answer: z.object({
      object: z.literal('list'),
      /** On the first page: up to 10,000, and whether there are more. */
      total: z.int().optional(),
      total_is_bound: z.boolean().optional(),
      data: z.array(log),
      next_cursor: z.string().nullable(),
    }),
    added: 'logs are looked for before one is looked at',
  }),
  'logs.read': endpoint({
    operationId: 'getLogsLogId',
    summary: 'Show the log of one request',
    tag: 'Logs',
    method: 'get',
    path: '/logs/{logId}',
    access: {
      keys: anyKey,
      scopes: ['logs.read', 'logs.view', 'logs.write', 'completions.write'],
    },
    answer: log,
  }),
  'requests.read': endpoint({
    operationId: 'getRequest',
    summary: 'Show what became of a request: attempts, failures, cost',
    tag: 'Logs',
    method: 'get',
    path: '/requests/{requestId}',
    access: { keys: anyKey, scopes: ['logs.read', 'logs.view', 'completions.write'] },
    answer: request,
    added: 'says what became of a request: who was asked, what failed and why, what it cost',
  }),
  'traces.read': endpoint({
    operationId: 'getTrace',
    summary: 'Show the requests of a trace as a tree',
    tag: 'Logs',
    method: 'get',
    path: '/traces/{traceId}',
    access: { keys: anyKey, scopes: ['logs.read', 'logs.view', 'completions.write'] },
    answer: trace,
    added: 'shows the requests of a trace as the tree that their spans make',
  }),
};
