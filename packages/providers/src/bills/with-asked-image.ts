import type { JsonObject } from '@sluice/contracts';
import type { ReplyFacts } from '../contract.ts';
import { stringOf } from '../json/json-access.ts';

/** What the price of images depends on, where the reply does not say it: as they were asked for. */
export function withAskedImage(facts: ReplyFacts, request: JsonObject): ReplyFacts {
  const { units } = facts;
  if (units?.images === undefined) return facts;
  const imageQuality = units.imageQuality ?? chosenWord(request.quality);
  const imageSize = units.imageSize ?? chosenWord(request.size);
  return {
    ...facts,
    units: {
      ...units,
      ...(imageQuality !== undefined && { imageQuality }),
      ...(imageSize !== undefined && { imageSize }),
    },
  };
}

/** `auto` leaves the choice to the provider, and says nothing of what it chose. */
export function chosenWord(value: unknown): string | undefined {
  const word = stringOf(value);
  return word === undefined || word === 'auto' || word.length > wordMax ? undefined : word;
}

const wordMax = 32;
