import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { type Figures, queryGraph } from '../queries/graph.ts';
import { costGraph } from '../queries/graph-cost.ts';
import { latencyGraph } from '../queries/graph-latency.ts';
import { requestsGraph } from '../queries/graph-requests.ts';
import { tokensGraph } from '../queries/graph-tokens.ts';
import { groupByModel } from '../queries/group-ai-models.ts';
import { sumCounters } from '../queries/sum-counters.ts';

/** A new graph is a file in `queries/` and a line here. */
const graphs: Partial<Record<analytics.Graph, Figures>> = {
  [analytics.Graph.REQUESTS]: requestsGraph,
  [analytics.Graph.COST]: costGraph,
  [analytics.Graph.TOKENS]: tokensGraph,
  [analytics.Graph.LATENCY]: latencyGraph,
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
      return groupByModel(client, required(request.filter), { size, index: request.currentPage });
    },
    sumCounters: async (request) => ({ sums: await sumCounters(client, request) }),
  };
}

function required(filter: analytics.Filter | undefined): analytics.Filter {
  if (filter === undefined) throw new GatewayError('admin.validation', { field: 'filter' });
  return filter;
}
