import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { queryFeedbackByModel } from '../queries/feedback-by-model.ts';
import { graphs, summaries } from '../queries/figures.ts';
import { queryGraph, querySummary } from '../queries/graph.ts';
import { groupsQuestion, queryGroups } from '../queries/groups.ts';
import { sumCounters } from '../queries/sum-counters.ts';

export function analyticsHandlers(
  client: ClickHouseClient,
): RpcHandlers<typeof analytics.AnalyticsService> {
  return {
    async getGraph(request) {
      const filter = required(request.filter);
      if (request.graph === analytics.Graph.FEEDBACKS_AI_MODELS)
        return queryFeedbackByModel(client, filter);
      const graph = graphs[request.graph];
      if (graph === undefined) throw new GatewayError('admin.validation', { field: 'graph' });
      return queryGraph(client, graph, filter);
    },
    async getSummary(request) {
      const figures = summaries[request.summary];
      if (figures === undefined) throw new GatewayError('admin.validation', { field: 'summary' });
      return { values: await querySummary(client, figures, required(request.filter)) };
    },
    async listGroups(request) {
      const question = groupsQuestion(request, required(request.filter));
      const { total, rows } = await queryGroups(client, question);
      return {
        total,
        rows: rows.map(({ value, values }) => ({
          value,
          requests: BigInt(values.requests ?? 0),
          cost: values.cost ?? 0,
          values: Object.fromEntries(request.columns.map((name) => [name, values[name] ?? 0])),
        })),
      };
    },
    sumCounters: async (request) => ({ sums: await sumCounters(client, request) }),
  };
}

function required(filter: analytics.Filter | undefined): analytics.Filter {
  if (filter === undefined) throw new GatewayError('admin.validation', { field: 'filter' });
  return filter;
}
