import { z } from 'zod';
import { analyticsGroupQuery, analyticsQuery } from './analytics.ts';
import { endpoint } from './endpoint.ts';
import { instantText } from './fields.ts';

export const analyticsEndpoints = {
  'analytics.graphs.requests': endpoint({
    operationId: 'getAnalyticsGraphsRequests',
    tag: 'Analytics > Graphs',
    method: 'get',
    path: '/analytics/graphs/requests',
    query: analyticsQuery,
    answer: z.object({
      summary: z.object({
        total: z.int(),
      }),
      data_points: z.array(
        z.object({
          timestamp: instantText,
          total: z.int(),
        }),
      ),
      object: z.literal('analytics-graph'),
    }),
  }),
  'analytics.graphs.cost': endpoint({
    operationId: 'getAnalyticsGraphsCost',
    tag: 'Analytics > Graphs',
    method: 'get',
    path: '/analytics/graphs/cost',
    query: analyticsQuery,
    answer: z.object({
      summary: z.object({
        total: z.int(),
        avg: z.int(),
      }),
      data_points: z.array(
        z.object({
          timestamp: instantText,
          total: z.int(),
          avg: z.int(),
        }),
      ),
      object: z.literal('analytics-graph'),
    }),
  }),
  'analytics.graphs.latency': endpoint({
    operationId: 'getAnalyticsGraphsLatency',
    tag: 'Analytics > Graphs',
    method: 'get',
    path: '/analytics/graphs/latency',
    query: analyticsQuery,
    answer: z.object({
      summary: z.object({
        avg: z.int(),
        p50: z.int(),
        p90: z.int(),
        p99: z.int(),
      }),
      data_points: z.array(
        z.object({
          timestamp: instantText,
          avg: z.int(),
          p50: z.int(),
          p90: z.int(),
          p99: z.int(),
        }),
      ),
      object: z.literal('analytics-graph'),
    }),
  }),
  'analytics.graphs.tokens': endpoint({
    operationId: 'getAnalyticsGraphsTokens',
    tag: 'Analytics > Graphs',
    method: 'get',
    path: '/analytics/graphs/tokens',
    query: analyticsQuery,
    answer: z.object({
      summary: z.object({
        total: z.int(),
        avg: z.int(),
      }),
      data_points: z.array(
        z.object({
          timestamp: instantText,
          total: z.int(),
          avg: z.int(),
        }),
      ),
      object: z.literal('analytics-graph'),
    }),
  }),
  'analytics.groups.ai-models': endpoint({
    operationId: 'getAnalyticsGroupsAiModels',
    tag: 'Analytics > Groups',
    method: 'get',
    path: '/analytics/groups/ai-models',
    query: analyticsGroupQuery,
    answer: z.object({
      object: z.literal('list'),
      total: z.int(),
      data: z.array(
        z.object({
          ai_model: z.string(),
          requests: z.string(),
          object: z.literal('analytics-group'),
        }),
      ),
    }),
  }),
};
