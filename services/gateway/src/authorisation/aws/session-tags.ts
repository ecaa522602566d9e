/** What AWS allows of session tags: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_session-tags.html */
const tagsMax = 50;
const keyLengthMax = 128;
const valueLengthMax = 256;
const forbidden = /[^\p{L}\p{Z}\p{N}_.:/=+\-@]/gu;

/** Metadata as tags: what AWS forbids becomes an underscore, names that differ by case only are one. */
export function sessionTags(
  metadata: Readonly<Record<string, string>>,
): readonly (readonly [key: string, value: string])[] {
  const tags = new Map<string, readonly [string, string]>();
  for (const name of Object.keys(metadata).sort()) {
    const key = cut(name.replace(forbidden, '_'), keyLengthMax);
    const folded = key.toLowerCase();
    if (key === '' || folded.startsWith('aws:') || tags.has(folded)) continue;
    tags.set(folded, [key, cut((metadata[name] ?? '').replace(forbidden, '_'), valueLengthMax)]);
    if (tags.size === tagsMax) break;
  }
  return [...tags.values()];
}

/** By characters, so that none is cut in two. */
function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : [...text].slice(0, lengthMax).join('');
}
