import { type EndpointOperation, endpoints, type Operation } from '@sluice/contracts';

/** The endpoints with one path and a body that is read: those that the unified pipeline serves. */
export const unifiedEndpoints: readonly EndpointOperation[] = endpoints.filter(
  ({ body }) => body === 'json' || body === 'form',
);

/** Of an operation's address, the path, as Express takes it. */
export function pathnameOf({ at }: Operation): string {
  return at.slice(at.indexOf(' ') + 1);
}
