import { operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { pathnameOf, unifiedEndpoints } from './unified-endpoints.ts';

const known = new Set([...unifiedEndpoints, operations.listModels].map(pathnameOf));

/** The 404 of an address that nothing has; of a base URL without its `/v1` it says so. */
export function noRoute(url: string): GatewayError {
  const pathname = (/^[^?#]*/.exec(url)?.[0] ?? '').replace(/\/+$/, '');
  const meant = known.has(`/v1${pathname}`) ? `/v1${pathname}` : undefined;
  return new GatewayError('request.route_not_found', {
    message:
      meant === undefined
        ? undefined
        : `No such route. The path is ${meant}: the base URL of clients ends in /v1.`,
  });
}
