import { heldRequestId } from '../../../support/held-logs.ts';
import { both, type Examples } from '../../example.ts';
import { examples as analytics } from './analytics.ts';

const held = (name: string) => async () => [{ [name]: heldRequestId }];
const filters = [analytics['analytics.graphs.requests']].flat()[0]?.query;

export const examples: Examples = {
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
};
