import { namedResources, type ObjectKind } from '@sluice/contracts';
import { canonicalFileId } from '@sluice/providers';

/** How Google's clients name a file: by its address, by its name, and by what is done with it. */
const googleFile = /^(?:https:\/\/[^/?#]+\/v\d[a-z0-9]*\/)?(?:files\/)?([a-z0-9-]+)(?::[a-z]+)?$/i;
/** Longer than any name or address of a file; patterns run out of their stack at some million characters. */
const nameLengthMax = 16_384;
const keptAddress = /^(?:s3:\/\/|gs:\/\/|https:\/\/[^/?#]+\/v\d[a-z0-9]*\/files\/)/i;

/** Whether an address is that of a file which a vendor keeps, and not of anything else. */
export function isKeptAddress(text: string): boolean {
  return keptAddress.test(text.slice(0, nameLengthMax));
}

/**
 * An id as it is noted, however a path, a body or a reply spells it: `cachedContents/a` and
 * `projects/p/locations/l/cachedContents/a:patch` are `a`, and so is the file at `https://…/v1beta/files/a`.
 */
export function objectId(kind: ObjectKind, text: string): string {
  if (kind === 'file') {
    const name = text.length > nameLengthMax ? undefined : googleFile.exec(text)?.[1];
    return name ?? canonicalFileId(text);
  }
  if (!namedResources.has(kind)) return text;
  const name = text.slice(text.lastIndexOf('/') + 1);
  const verb = name.indexOf(':');
  const id = verb < 0 ? name : name.slice(0, verb);
  return id === '' ? text : id;
}
