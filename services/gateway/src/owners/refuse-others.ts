import { GatewayError } from '@sluice/errors';
import type { NamedObjects } from '../exchange/named-objects.ts';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import { keptAt } from './kept-at.ts';

/** The field that names what another workspace keeps where a call goes; undefined = none does. */
export function othersField(
  { others }: Pick<NamedObjects, 'others'>,
  call: Pick<PreparedCall, 'origin' | 'target'>,
): string | undefined {
  return others.find(({ id, origin }) => origin === keptAt(id, call))?.field;
}

/** As for an id that nobody ever gave out. */
export function ownerUnknown(field: string): GatewayError {
  return new GatewayError('object.owner_unknown', { field });
}
