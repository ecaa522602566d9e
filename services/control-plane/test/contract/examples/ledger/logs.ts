import { heldRequestId, heldTraceId } from '../../../support/held-logs.ts';
import { both, type Examples, workspaceOnly } from '../../example.ts';
import { examples as analytics } from './analytics.ts';

const held = (name: string) => async () => [{ [name]: heldRequestId }];
const filters = [analytics['analytics.graphs.requests']].flat()[0]?.query;

export const examples: Examples = {
  'logs.create': {
    callers: workspaceOnly,
    body: () => ({
      request: {
        url: 'https://api.openai.com/v1/chat/completions',
        method: 'POST',
        headers: { 'x-team': 'a' },
        body: { model: 'gpt-4o' },
        provider: 'openai',
      },
      response: {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: { usage: { prompt_tokens: 10, completion_tokens: 5 } },
        response_time: 120,
        time: 120,
        streamingMode: false,
      },
      metadata: { trace_id: 'a', span_id: 'b', span_name: 'c', parent_span_id: 'd', team: 'a' },
    }),
  },
  'logs.list': {
    callers: both,
    query: (context) => ({
      ...filters?.(context),
      search: 'gpt',
      ai_model: 'gpt-4o',
      endpoint: 'chatComplete',
      cache_status: 'HIT,MISS',
      error_code: 'upstream.reset',
      is_success: 'false',
      page_size: '20',
      cursor: 'MTcz',
    }),
  },
  'logs.read': { callers: both, path: held('logId') },
  'requests.read': { callers: both, path: held('requestId') },
  'traces.read': { callers: both, path: async () => [{ traceId: heldTraceId }] },
};
