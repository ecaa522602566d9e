import { GatewayError } from '@sluice/errors';
import { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { queryFeedbackByModel } from '../queries/feedback-by-model.ts';
import { graphs, summaries } from '../queries/figures.ts';
import { queryGraph, querySummary } from '../queries/graph.ts';
import { groupsQuestion, queryGroups } from '../queries/groups.ts';
import { type Questions, type Reader, readerFor } from '../queries/questions.ts';
import { sumCounters } from '../queries/sum-counters.ts';

export interface AnalyticsParts {
  questions: Questions;
  /** For sums that limits wait for. */
  client: Reader;
}

export function analyticsHandlers({
  questions,
  client,
}: AnalyticsParts): RpcHandlers<typeof analytics.AnalyticsService> {
  return {
    async getGraph(request, caller) {
      const reader = questions.one(caller);
      const filter = required(request.filter);
      if (request.graph === analytics.Graph.FEEDBACKS_AI_MODELS)
        return queryFeedbackByModel(reader, filter);
      const graph = graphs[request.graph];
      if (graph === undefined) throw new GatewayError('admin.validation', { field: 'graph' });
      return queryGraph(reader, graph, filter);
    },
    async getSummary(request, caller) {
      const figures = summaries[request.summary];
      if (figures === undefined) throw new GatewayError('admin.validation', { field: 'summary' });
      const reader = questions.one(caller);
      return { values: await querySummary(reader, figures, required(request.filter)) };
    },
    async listGroups(request, caller) {
      const question = groupsQuestion(request, required(request.filter));
      const { total, rows } = await queryGroups(questions.one(caller), question);
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
    sumCounters: async (request, caller) => ({
      sums: await sumCounters(readerFor(client, caller), request),
    }),
  };
}

function required(filter: analytics.Filter | undefined): analytics.Filter {
  if (filter === undefined) throw new GatewayError('admin.validation', { field: 'filter' });
  return filter;
}
