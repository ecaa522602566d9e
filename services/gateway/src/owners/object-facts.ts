import { type ObjectFacts, objectsAt } from '@sluice/contracts';
import type { ModelExchange } from '../exchange/exchange.ts';

/** What is known of a call's objects: by its row, or, of one that no row serves, by its path. */
export function objectFactsOf({
  subject: { operation, pathname },
  arrival: { method },
}: Pick<ModelExchange, 'subject' | 'arrival'>): ObjectFacts | undefined {
  return operation.id === 'proxy' ? objectsAt(method, pathname).facts : operation.objects;
}
