import type { QueryOf } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import { implementAll } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant, listEnvelope } from '../../kernel/http/shapes.ts';
import {
  findDefaultWorkspace,
  findWorkspaceOfAnyStatus,
} from '../../kernel/tenancy/find-workspace.ts';
import { toFilter } from './filter.ts';
import type { Ledger } from './ledger.ts';

const { Graph, Group } = analytics;

export function analyticsOperations(ledger: Ledger) {
  /** A graph, of the numbers that it shows in its summary and at each point. */
  async function showGraph<const Name extends string>(
    call: AdminRequest,
    query: QueryOf<'analytics.graphs.requests'>,
    graph: analytics.Graph,
    names: readonly Name[],
  ) {
    const answer = await ledger.getGraph({ graph, filter: await filterOf(call, query) });
    return {
      summary: pick(names, answer.summary),
      data_points: answer.dataPoints.map((point) => ({
        timestamp: instant(new Date(Number(point.timestampMs))),
        ...pick(names, point.values),
      })),
      object: 'analytics-graph' as const,
    };
  }

  return {
    ...implementAll('analytics.graphs', {
      requests: (call, { query }) => showGraph(call, query, Graph.REQUESTS, ['total']),
      cost: (call, { query }) => showGraph(call, query, Graph.COST, ['total', 'avg']),
      tokens: (call, { query }) => showGraph(call, query, Graph.TOKENS, ['total', 'avg']),
      latency: (call, { query }) =>
        showGraph(call, query, Graph.LATENCY, ['avg', 'p50', 'p90', 'p99']),
    }),
    ...implementAll('analytics.groups', {
      'ai-models': async (call, { query }) => {
        const { pageSize, currentPage } = query;
        const answer = await ledger.listGroups({
          group: Group.AI_MODELS,
          filter: await filterOf(call, query),
          pageSize,
          currentPage,
        });
        const data = answer.rows.map((row) => ({
          ai_model: row.value,
          requests: row.requests.toString(),
          object: 'analytics-group' as const,
        }));
        return listEnvelope(data, Number(answer.total));
      },
    }),
  };
}

/** Workspace keys see their own workspace, organisation keys the one they name or the default one. */
export async function filterOf(call: AdminRequest, query: QueryOf<'analytics.graphs.requests'>) {
  const { organisationId, workspaceId } = call.caller;
  if (workspaceId !== undefined) return toFilter(query, call.caller, workspaceId);
  const workspace =
    query.workspace_slug === undefined
      ? await findDefaultWorkspace(call.db, organisationId)
      : await findWorkspaceOfAnyStatus(call.db, organisationId, query.workspace_slug);
  if (workspace === null)
    throw new GatewayError('admin.not_found', {
      field: 'query.workspace_slug',
      message: 'No such workspace.',
    });
  return toFilter(query, call.caller, workspace.id);
}

function pick<Name extends string>(
  names: readonly Name[],
  values: Readonly<Record<string, number>>,
): Record<Name, number> {
  return Object.fromEntries(names.map((name) => [name, values[name] ?? 0])) as Record<Name, number>;
}
