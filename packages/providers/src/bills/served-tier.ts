import { stringOf } from '../json/json-access.ts';

/** Words of vendors for what others call otherwise. */
const ownWords = new Map(
  Object.entries({
    default: 'standard',
    on_demand: 'standard',
    'on-demand': 'standard',
    unspecified: 'standard',
    standard_only: 'standard',
    on_demand_priority: 'priority',
    on_demand_flex: 'flex',
    provisioned_throughput: 'provisioned',
  }),
);

const lengthMax = 64;

/**
 * The tier a call was served with, in one vocabulary: `standard`, `batch`,
 * `flex`, `priority`, `fast`, `provisioned`, or a vendor's own further word.
 * Undefined where a reply only repeats that the choice was left to the vendor.
 */
export function servedTierOf(value: unknown): string | undefined {
  const word = stringOf(value)
    ?.toLowerCase()
    .replace(/^(?:service_tier|traffic_type)_/, '');
  if (word === undefined || word === '' || word === 'auto' || word.length > lengthMax)
    return undefined;
  return ownWords.get(word) ?? word;
}
