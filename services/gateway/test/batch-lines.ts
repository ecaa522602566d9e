import { isLongForm, json, slowHeaders } from '@sluice/testkit';
import { chatReply, type Scenario } from './scenario.ts';

/** Lines of a batch that is stopped before they have all been run; more of them in `npm run test:long`. */
export const manyLines = isLongForm ? 900 : 300;

/** Answers that keep as many lines busy for as long, however many there are. */
export const answersSlowly = (msOfManyLines: number) => () =>
  slowHeaders((msOfManyLines * 900) / manyLines, json(200, chatReply));

/** A line of a batch of chats. */
export const line = (id: string, body: object, url = '/v1/chat/completions') =>
  JSON.stringify({ custom_id: id, method: 'POST', url, body });

export const question = (text: string) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: text }],
});

export interface OutputLine {
  id: string;
  custom_id: string;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string } | null;
}

export const linesIn = (text: string): OutputLine[] =>
  text
    .split('\n')
    .filter((each) => each !== '')
    .map((each) => JSON.parse(each));

/** Requests of a batch and their cost, US cents, as analytics have them. */
export async function batchUse(
  s: Scenario,
  batchId: string,
): Promise<{ total: number; cost: number }> {
  const query = new URLSearchParams({
    time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
    time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
    workspace_slug: s.stack.credentials.workspace_slug,
    trace_id: batchId,
  });
  const graph = async (name: string) =>
    (await s.admin<{ summary: { total: number } }>('GET', `/analytics/graphs/${name}?${query}`))
      .summary.total;
  return { total: await graph('requests'), cost: await graph('cost') };
}
