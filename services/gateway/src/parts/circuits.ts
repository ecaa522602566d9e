import type { Part } from '@sluice/service';
import type { SharedStore } from '../redis/shared-store.ts';
import { CircuitBreakers } from '../routing/state/circuit-breakers.ts';
import { SharedCircuits } from '../routing/state/shared-circuits.ts';

/** Which targets are left out for a while. */
export function circuitsPart(shared: SharedStore | undefined) {
  const breakers = new CircuitBreakers({ shared: shared && new SharedCircuits({ store: shared }) });
  const part: Part = {
    name: 'circuits',
    start: () => breakers.start(),
    stop: () => breakers.close(),
    gauges: () => [
      {
        name: 'sluice_circuits_open',
        help: 'Targets left out because their circuit is open or half-open',
        read: () => breakers.openCount,
      },
    ],
  };
  return { breakers, part };
}
