import { namedResources, type ObjectKind } from '@sluice/contracts';
import { canonicalFileId } from '@sluice/providers';

/**
 * An id as it is noted, however a path, a body or a reply spells it: `cachedContents/a` and
 * `projects/p/locations/l/cachedContents/a:patch` are `a`.
 */
export function objectId(kind: ObjectKind, text: string): string {
  if (kind === 'file') return canonicalFileId(text);
  return namedResources.has(kind) ? (/([^/:]+)(?::[^/]*)?$/.exec(text)?.[1] ?? text) : text;
}
