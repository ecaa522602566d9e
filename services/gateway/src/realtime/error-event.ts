import { randomUUID } from 'node:crypto';
import type { NamedOperation } from '@sluice/contracts';
import type { GatewayError } from '@sluice/errors';

/** An error within a session, as its vendor tells its own. */
export function errorEvent(error: GatewayError, { id }: Pick<NamedOperation, 'id'>): string {
  const { type, code, message, field } = error;
  const told = { type, code, message, param: field ?? null };
  if (id === 'responseSession')
    return JSON.stringify({ type: 'error', status: error.status, error: told });
  return JSON.stringify({
    type: 'error',
    event_id: `event_${randomUUID().replaceAll('-', '')}`,
    error: { ...told, event_id: null },
  });
}
