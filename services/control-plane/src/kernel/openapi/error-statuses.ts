import type { Endpoint } from '@sluice/contracts/admin';

const unpublished = [400, 401, 403, 404, 409, 500];

/**
 * The statuses that an operation refuses with. Whatever is published, a call
 * that needs a key can lack it or its scope, and input can be wrong.
 */
export function errorStatuses(endpoint: Endpoint): readonly number[] {
  const statuses = new Set(endpoint.errors ?? unpublished);
  if (endpoint.plane !== 'public') statuses.add(401).add(403);
  // What an operation does not take is refused, even where it takes nothing.
  if (endpoint.errorForm !== 'text') statuses.add(400);
  return [...statuses, 500].filter((status, at, all) => all.indexOf(status) === at).sort();
}
