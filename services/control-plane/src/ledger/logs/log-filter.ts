import type { QueryOf } from '@sluice/contracts/admin';

/** No endpoint is called so. */
const noEndpoint = '-';

/** What lists of logs are filtered by beyond the filters of analytics. */
export function logFilter(query: QueryOf<'logs.list'>) {
  return {
    search: query.search ?? '',
    aiModels: query.ai_model ?? [],
    endpoints: endpointsOf(query),
    cacheStatuses: query.cache_status ?? [],
    errorCodes: query.error_code ?? [],
    isSuccess: query.is_success,
  };
}

/** Two filters of one column: each narrows what the other leaves. Empty = any. */
function endpointsOf({ endpoint = [], mode = [] }: QueryOf<'logs.list'>): string[] {
  if (endpoint.length === 0 || mode.length === 0) return [...endpoint, ...mode];
  const both = endpoint.filter((each) => mode.includes(each));
  return both.length > 0 ? both : [noEndpoint];
}
