import type { JsonObject } from '@sluice/contracts';
import type { JsonEdit } from '@sluice/json';

/**
 * A modern result that depends on who asks (N11): nobody but the caller may keep it, and no longer than a change of
 * rights may take.
 */
export function privateResult(edit: JsonEdit, result: JsonObject, ttlMsMax: number): void {
  const { cacheScope, ttlMs } = result;
  if (cacheScope !== 'private') edit.set(['result', 'cacheScope'], '"private"');
  const isKnown = typeof ttlMs === 'number' && ttlMs >= 0;
  if (!isKnown) edit.set(['result', 'ttlMs'], '0');
  else if (ttlMs > ttlMsMax) edit.set(['result', 'ttlMs'], String(ttlMsMax));
}
