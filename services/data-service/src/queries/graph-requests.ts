import type { Figures } from './graph.ts';

/**
 * Rows are counted: one record is one attempt. While a request has one attempt,
 * that is the number of requests; `uniqExact(request_id)` would be it later.
 */
export const requestsGraph: Figures = { total: 'count()' };
