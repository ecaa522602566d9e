import type { QueryOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant, listEnvelope } from '../../kernel/http/shapes.ts';
import {
  findDefaultWorkspace,
  findWorkspaceOfAnyStatus,
} from '../../kernel/tenancy/find-workspace.ts';
import { type NamedWorkspace, namedWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { type AnalyticsQuery, toFilter } from './filter.ts';
import { nameWorkspaces, showGroup } from './groups.ts';
import type { Ledger } from './ledger.ts';

const { Graph, Group, Summary } = analytics;

type GroupQuery = QueryOf<'analytics.groups.users'>;
type GroupBy = QueryOf<'analytics.groups.by'>;

export function analyticsOperations(ledger: Ledger) {
  async function ask(call: AdminRequest, query: AnalyticsQuery, graph: analytics.Graph) {
    return ledger.getGraph({ graph, filter: await filterOf(call, query) }, call.signal);
  }

  /** A graph, of the numbers that it shows in its summary, and of those at each point and what else is told there. */
  async function showGraph<
    const InSummary extends string,
    const AtPoint extends string = InSummary,
    More extends object = object,
  >(
    call: AdminRequest,
    query: AnalyticsQuery,
    graph: analytics.Graph,
    inSummary: readonly InSummary[],
    atPoint: readonly AtPoint[] = inSummary as readonly string[] as readonly AtPoint[],
    more: (point: analytics.DataPoint) => More = () => ({}) as More,
  ) {
    const { summary, dataPoints } = await ask(call, query, graph);
    return {
      summary: pick(inSummary, summary),
      data_points: dataPoints.map((point) => ({
        timestamp: instant(new Date(Number(point.timestampMs))),
        ...pick(atPoint, point.values),
        ...more(point),
      })),
      object: 'analytics-graph' as const,
    };
  }

  /** A graph whose points have a key and no time. */
  async function showKeyedGraph<const InSummary extends string, Point extends object>(
    call: AdminRequest,
    query: AnalyticsQuery,
    graph: analytics.Graph,
    inSummary: readonly InSummary[],
    pointOf: (point: analytics.DataPoint) => Point,
  ) {
    const { summary, dataPoints } = await ask(call, query, graph);
    return {
      summary: pick(inSummary, summary),
      data_points: dataPoints.map(pointOf),
      object: 'analytics-graph' as const,
    };
  }

  async function askGroups(
    call: AdminRequest,
    query: GroupQuery | QueryOf<'analytics.groups.metadata'> | GroupBy,
    group: { group: analytics.Group; columns?: readonly string[]; metadataKey?: string },
    ofAll = false,
  ) {
    const { pageSize, currentPage, order_by, order_by_type } = query;
    return ledger.listGroups(
      {
        ...group,
        columns: [...(group.columns ?? [])],
        filter: await filterOf(call, query, ofAll),
        pageSize,
        currentPage,
        orderBy: order_by,
        ascending: order_by_type === 'asc',
      },
      call.signal,
    );
  }

  async function listGroups<Row extends object>(
    call: AdminRequest,
    query: GroupQuery | QueryOf<'analytics.groups.metadata'>,
    group: { group: analytics.Group; columns?: readonly string[]; metadataKey?: string },
    rowOf: (row: analytics.GroupRow) => Row,
  ) {
    const { rows, total } = await askGroups(call, query, group);
    const data = rows.map((row) => ({ ...rowOf(row), object: 'analytics-group' as const }));
    return listEnvelope(data, Number(total));
  }

  async function groupBy(call: AdminRequest, query: GroupBy) {
    const name = pathParameter(call, 'groupBy') as keyof typeof groups;
    const { columns = [] } = query;
    const isOfWorkspaces = name === 'workspace';
    const { rows, total } = await askGroups(
      call,
      query,
      { group: groups[name], columns },
      isOfWorkspaces,
    );
    const named = isOfWorkspaces ? await nameWorkspaces(call, rows) : rows;
    return listEnvelope(
      named.map((row) => showGroup(name, columns, row)),
      Number(total),
    );
  }

  return {
    ...implementAll('analytics.graphs', {
      requests: (call, { query }) => showGraph(call, query, Graph.REQUESTS, ['total']),
      cost: (call, { query }) => showGraph(call, query, Graph.COST, ['total', 'avg', 'unpriced']),
      tokens: (call, { query }) => showGraph(call, query, Graph.TOKENS, ['total', 'avg']),
      latency: (call, { query }) =>
        showGraph(call, query, Graph.LATENCY, ['avg', 'p50', 'p90', 'p99']),
      users: (call, { query }) => showGraph(call, query, Graph.USERS, ['total']),
      'users-requests': (call, { query }) =>
        showGraph(call, query, Graph.USERS_REQUESTS, ['total', 'unique', 'avg'], ['avg']),
      errors: (call, { query }) => showGraph(call, query, Graph.ERRORS, ['total']),
      'errors-rate': (call, { query }) => showGraph(call, query, Graph.ERRORS_RATE, ['rate']),
      'errors-stacks': (call, { query }) =>
        showGraph(call, query, Graph.ERRORS_STACKS, ['total'], [], ({ parts }) => ({
          stats: parts.map(({ key, value }) => ({
            response_status_code: Number(key),
            count: value,
          })),
        })),
      'errors-status-codes': (call, { query }) =>
        showKeyedGraph(
          call,
          query,
          Graph.ERRORS_STATUS_CODES,
          ['total_errors', 'unique_error_codes'],
          ({ key, values }) => ({ status_code: Number(key), ...pick(['count'], values) }),
        ),
      'requests-rescued': (call, { query }) =>
        showGraph(
          call,
          query,
          Graph.REQUESTS_RESCUED,
          ['retry', 'fallback'],
          ['fallback'],
          ({ parts }) => ({
            retry: parts.map(({ key, value }) => ({
              retry_success_count: Number(key),
              count: value,
            })),
          }),
        ),
      'cache-hit-rate': (call, { query }) =>
        showGraph(
          call,
          query,
          Graph.CACHE_HIT_RATE,
          ['total', 'rate'],
          [
            'simple_hits',
            'semantic_hits',
            'rate',
            'cumulative_simple_cache_savings',
            'cumulative_semantic_cache_savings',
          ],
        ),
      'cache-latency': (call, { query }) =>
        showGraph(call, query, Graph.CACHE_LATENCY, [], ['avg']),
      feedbacks: (call, { query }) => showGraph(call, query, Graph.FEEDBACKS, ['total']),
      'feedbacks-scores': (call, { query }) =>
        showKeyedGraph(call, query, Graph.FEEDBACKS_SCORES, ['total'], ({ key, values }) => ({
          score: Number(key),
          ...pick(['total'], values),
        })),
      'feedbacks-weighted': (call, { query }) =>
        showGraph(call, query, Graph.FEEDBACKS_WEIGHTED, ['avg']),
      'feedbacks-ai-models': (call, { query }) =>
        showKeyedGraph(call, query, Graph.FEEDBACKS_AI_MODELS, [], ({ key, values }) => ({
          ai_model: key,
          ...pick(['total', 'avg_weighted_feedback'], values),
        })),
    }),
    ...implementAll('analytics.summary', {
      cache: async (call, { query }) => {
        const filter = await filterOf(call, query);
        const { values } = await ledger.getSummary({ summary: Summary.CACHE, filter }, call.signal);
        const names = ['hits', 'avg_latency', 'total_requests', 'cache_speedup'] as const;
        return { summary: pick(names, values), object: 'analytics-summary' as const };
      },
    }),
    // Before `by`, for whose kind they would be taken.
    ...implementAll('analytics.groups', {
      users: (call, { query }) =>
        listGroups(call, query, { group: Group.USERS }, (row) => ({
          user: row.value,
          requests: row.requests.toString(),
          cost: String(row.cost),
        })),
      'ai-models': (call, { query }) =>
        listGroups(call, query, { group: Group.AI_MODELS }, (row) => ({
          ai_model: row.value,
          requests: row.requests.toString(),
        })),
      metadata: (call, { query }) => {
        const metadataKey = pathParameter(call, 'metadataKey');
        const columns = [
          'avg_tokens',
          'avg_weighted_feedback',
          'requests_with_feedback',
          'last_seen',
        ] as const;
        return listGroups(call, query, { group: Group.METADATA, columns, metadataKey }, (row) => ({
          metadata_value: row.value,
          requests: Number(row.requests),
          cost: row.cost,
          ...pick(columns, row.values),
          last_seen: instant(new Date(row.values.last_seen ?? 0)),
        }));
      },
      by: (call, { query }) => groupBy(call, query),
    }),
    ...implementAll('analytics.log-groups', {
      by: (call, { query }) => groupBy(call, query),
    }),
  };
}

const groups = {
  ai_service: Group.AI_SERVICE,
  model: Group.MODEL,
  status_code: Group.STATUS_CODE,
  api_key: Group.API_KEY,
  config: Group.CONFIG,
  workspace: Group.WORKSPACE,
  provider: Group.PROVIDER,
  prompt: Group.PROMPT,
  tool: Group.TOOL,
  mode: Group.MODE,
} as const;

/**
 * Workspace keys see their own workspace, organisation keys the one they name or the default one: all of them,
 * where it is workspaces that are compared.
 */
export async function filterOf(call: AdminRequest, query: AnalyticsQuery, ofAll = false) {
  const { workspaceId } = call.caller;
  if (workspaceId !== undefined) return toFilter(query, call.caller, [workspaceId]);
  const named = await namedWorkspaceId(call, query);
  if (named === undefined && ofAll) return toFilter(query, call.caller, []);
  return toFilter(query, call.caller, [named ?? (await defaultWorkspaceId(call))]);
}

/** Of an organisation key. Analytics have a name of their own for it, beside the one that every operation takes. */
async function namedWorkspaceId(
  call: AdminRequest,
  query: AnalyticsQuery,
): Promise<string | undefined> {
  const names: NamedWorkspace[] = [
    { field: 'query.workspace_slug', reference: query.workspace_slug },
    namedWorkspace(undefined, call.query),
  ];
  let found: string | undefined;
  for (const { field, reference } of names) {
    if (reference === undefined || reference === null) continue;
    const { organisationId } = call.caller;
    const workspace = await findWorkspaceOfAnyStatus(call.db, organisationId, reference);
    if (workspace === null) throw noWorkspace(field);
    if (found !== undefined && found !== workspace.id)
      throw invalidField(field, 'is another workspace than workspace_slug');
    found = workspace.id;
  }
  return found;
}

async function defaultWorkspaceId(call: AdminRequest): Promise<string> {
  const workspace = await findDefaultWorkspace(call.db, call.caller.organisationId);
  if (workspace === null) throw noWorkspace('query.workspace_slug');
  return workspace.id;
}

function noWorkspace(field: string): GatewayError {
  return new GatewayError('admin.not_found', { field, message: 'No such workspace.' });
}

function pick<Name extends string>(
  names: readonly Name[],
  values: Readonly<Record<string, number>>,
): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? 0])) as Record<Name, number>;
}
