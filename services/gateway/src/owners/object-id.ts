import { namedResources, type ObjectKind } from '@sluice/contracts';
import { canonicalFileId } from '@sluice/providers';

/**
 * An id as it is noted, however a path, a body or a reply spells it: `cachedContents/a` and
 * `projects/p/locations/l/cachedContents/a:patch` are `a`.
 */
export function objectId(kind: ObjectKind, text: string): string {
  if (kind === 'file') return canonicalFileId(text);
  if (!namedResources.has(kind)) return text;
  const name = text.slice(text.lastIndexOf('/') + 1);
  const verb = name.indexOf(':');
  const id = verb < 0 ? name : name.slice(0, verb);
  return id === '' ? text : id;
}
