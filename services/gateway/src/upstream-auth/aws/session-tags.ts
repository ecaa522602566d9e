import type { SessionTags } from './sts.ts';

type Metadata = Readonly<Record<string, string>>;

/** What AWS allows of session tags: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html */
const tagsMax = 50;
const keyLengthMax = 128;
const valueLengthMax = 256;
const forbidden = /[^\p{L}\p{Z}\p{N}_.:/=+\-@]/gu;

/**
 * The lists to try, one after the other: all tags, those of admins alone, none.
 * A caller's tag that the role refuses must not take the admins' along; where
 * those are refused, too, the trust policy knows no rule about tags.
 * @param ranks  the workspace's metadata, the key's, the request's
 */
export function tagLists(ranks: readonly Metadata[]): readonly [SessionTags, ...SessionTags[]] {
  const all = sessionTags(ranks);
  const admins = sessionTags(ranks.slice(0, -1));
  if (all.length === 0) return [all];
  return admins.length === 0 || admins.length === all.length ? [all, []] : [all, admins, []];
}

/**
 * Metadata as tags: what AWS forbids becomes an underscore. AWS takes names that
 * differ by case for one, and so do we.
 * @param ranks  who wins first: a name of an earlier one is not taken by a later
 *   one, however it is written, and is not pushed out by many
 */
export function sessionTags(ranks: readonly Metadata[]): SessionTags {
  const tags = new Map<string, readonly [string, string]>();
  for (const metadata of ranks)
    for (const name of Object.keys(metadata).sort()) {
      if (tags.size === tagsMax) break;
      const key = cut(name.replace(forbidden, '_'), keyLengthMax);
      const folded = key.toLowerCase();
      if (key === '' || folded.startsWith('aws:') || tags.has(folded)) continue;
      tags.set(folded, [key, cut((metadata[name] ?? '').replace(forbidden, '_'), valueLengthMax)]);
    }
  return [...tags.values()];
}

/** By characters, so that none is cut in two. */
function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : [...text].slice(0, lengthMax).join('');
}
