import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { type Figures, graphFigures } from '../queries/figures.ts';
import { queryGraph } from '../queries/graph.ts';
import { byModel, queryGroups } from '../queries/groups.ts';
import { sumCounters } from '../queries/sum-counters.ts';

const graphs: Partial<Record<analytics.Graph, Figures>> = {
  [analytics.Graph.REQUESTS]: graphFigures.requests,
  [analytics.Graph.COST]: graphFigures.cost,
  [analytics.Graph.TOKENS]: graphFigures.tokens,
  [analytics.Graph.LATENCY]: graphFigures.latency,
};

const pageSizeDefault = 100;
const pageSizeMax = 1000;

export function analyticsHandlers(
  client: ClickHouseClient,
): RpcHandlers<typeof analytics.AnalyticsService> {
  return {
    async getGraph(request) {
      const figures = graphs[request.graph];
      if (figures === undefined) throw new GatewayError('admin.validation', { field: 'graph' });
      return queryGraph(client, figures, required(request.filter));
    },
    async listGroups(request) {
      if (request.group !== analytics.Group.AI_MODELS)
        throw new GatewayError('admin.validation', { field: 'group' });
      const size = Math.min(request.pageSize || pageSizeDefault, pageSizeMax);
      return queryGroups(client, byModel, required(request.filter), {
        size,
        index: request.currentPage,
      });
    },
    sumCounters: async (request) => ({ sums: await sumCounters(client, request) }),
  };
}

function required(filter: analytics.Filter | undefined): analytics.Filter {
  if (filter === undefined) throw new GatewayError('admin.validation', { field: 'filter' });
  return filter;
}
