import { GatewayError } from '@sluice/errors';
import type { Exchange } from '../exchange/exchange.ts';
import type { StoredOwner } from './files.ts';

/** @throws GatewayError `internal` before anybody is known to ask */
export function ownerOf({ key }: Exchange): StoredOwner {
  if (key === undefined) throw new GatewayError('internal');
  const { organisationId, workspaceId, id } = key.source;
  // A token ends before what it makes does, and nobody could speak for it then.
  return { organisationId, workspaceId, apiKeyId: 'validUntilMs' in key ? '' : id };
}
