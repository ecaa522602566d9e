import { invalidField } from '@sluice/errors';
import { providerIds } from '@sluice/providers';
import { nearestAdvice } from '../../kernel/names/nearest.ts';

/**
 * The catalogue's id of a provider, whichever of its names is given.
 * @throws 400 with the nearest id, or all
 */
export function knownProvider(
  { catalogueId }: { catalogueId: (name: string) => string | undefined },
  field: string,
  name: string,
): string {
  const id = catalogueId(name);
  if (id === undefined)
    throw invalidField(field, `is no provider we know${nearestAdvice(name, providerIds())}`);
  return id;
}
