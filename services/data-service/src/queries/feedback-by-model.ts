import type { analytics } from '@sluice/proto-stubs';
import { feedbackByModel } from './figures.ts';
import { conditionOf } from './filter.ts';
import type { GraphData } from './graph.ts';
import { modelKey, queryGroups } from './groups.ts';
import type { Reader } from './questions.ts';

/** Models that were judged, those most often first. */
export async function queryFeedbackByModel(
  client: Reader,
  filter: analytics.Filter,
): Promise<GraphData> {
  const { rows } = await queryGroups(client, {
    key: modelKey,
    filter,
    condition: conditionOf(filter),
    figures: feedbackByModel,
    orderBy: 'total',
    ascending: false,
    size: modelsMax,
    index: 0,
  });
  const dataPoints = rows
    .filter(({ values }) => (values.total ?? 0) > 0)
    .map(({ value, values }) => ({ key: value, values }));
  return { summary: {}, dataPoints };
}

const modelsMax = 1000;
