import { type AnalyticsQuery, analyticsGroupQuery, analyticsQuery } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import type { OperationId } from '../authorisation/table.ts';
import type { AdminCall, Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { listEnvelope } from '../http/shapes.ts';
import { findDefaultWorkspace, findWorkspaceOfAnyStatus } from '../workspaces/store.ts';
import { toFilter } from './filter.ts';
import type { Ledger } from './ledger.ts';

/** The graphs: which numbers each shows, in its summary and at each point. */
const graphs = {
  requests: { graph: analytics.Graph.REQUESTS, values: ['total'] },
  cost: { graph: analytics.Graph.COST, values: ['total', 'avg'] },
  tokens: { graph: analytics.Graph.TOKENS, values: ['total', 'avg'] },
  latency: { graph: analytics.Graph.LATENCY, values: ['avg', 'p50', 'p90', 'p99'] },
} as const;

export function analyticsOperations(ledger: Ledger): readonly Operation[] {
  return [
    ...Object.entries(graphs).map(
      ([name, { graph, values }]): Operation => ({
        id: `analytics.graphs.${name}` as OperationId,
        method: 'get',
        path: `/analytics/graphs/${name}`,
        async handle(call) {
          const filter = await filterOf(call, parseInput(analyticsQuery, call.query, 'query'));
          const answer = await ledger.getGraph({ graph, filter });
          return {
            summary: pick(values, answer.summary),
            data_points: answer.dataPoints.map((point) => ({
              timestamp: new Date(Number(point.timestampMs)).toISOString(),
              ...pick(values, point.values),
            })),
            object: 'analytics-graph',
          };
        },
      }),
    ),
    {
      id: 'analytics.groups.ai-models',
      method: 'get',
      path: '/analytics/groups/ai-models',
      async handle(call) {
        const query = parseInput(analyticsGroupQuery, call.query, 'query');
        const filter = await filterOf(call, query);
        const { pageSize, currentPage } = query;
        const answer = await ledger.listGroups({
          group: analytics.Group.AI_MODELS,
          filter,
          pageSize,
          currentPage,
        });
        const data = answer.rows.map((row) => ({
          ai_model: row.value,
          // Text, as published.
          requests: row.requests.toString(),
          object: 'analytics-group',
        }));
        return listEnvelope(data, Number(answer.total));
      },
    },
  ];
}

/** Workspace keys see their own workspace, organisation keys the one they name or the default one. */
async function filterOf(call: AdminCall, query: AnalyticsQuery) {
  const { organisationId, workspaceId } = call.caller;
  if (workspaceId !== undefined) return toFilter(query, organisationId, workspaceId);
  const workspace =
    query.workspace_slug === undefined
      ? await findDefaultWorkspace(call.db, organisationId)
      : await findWorkspaceOfAnyStatus(call.db, organisationId, query.workspace_slug);
  if (workspace === null)
    throw new GatewayError('admin.not_found', {
      field: 'query.workspace_slug',
      message: 'No such workspace.',
    });
  return toFilter(query, organisationId, workspace.id);
}

function pick(
  names: readonly string[],
  values: Readonly<Record<string, number>>,
): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? 0]));
}
