import type { JsonObject } from '@sluice/contracts';

/** A request without what its provider did not write, and the names of what was left out. */
export interface OwnWords {
  body: JsonObject;
  dropped: readonly string[];
}
