/** So many names are compared, and so many shown: a workspace may have thousands, and a caller ask for many that it has not. */
const comparedMax = 100;
const shownMax = 5;

/** What the workspace has in place of a slug that it has not, the likeliest first; a sentence, or nothing. */
export function whichThereAre(slug: string, slugs: Iterable<string>): string {
  const compared: string[] = [];
  let count = 0;
  for (const each of slugs) {
    count += 1;
    if (compared.length < comparedMax) compared.push(each);
  }
  if (count === 0) return 'It has none.';
  const wanted = slug.slice(0, 80).toLowerCase();
  const shown = compared
    .map((each) => ({ each, far: distance(wanted, each.slice(0, 80).toLowerCase()) }))
    .sort((a, b) => a.far - b.far || (a.each < b.each ? -1 : 1))
    .slice(0, shownMax)
    .map(({ each }) => `"@${each}"`);
  const more = count > shown.length ? ` and ${count - shown.length} more` : '';
  return `It has ${shown.join(', ')}${more}.`;
}

/** How a model that names a provider in the spelling of other gateways, `slug/model`, is written here; undefined = it names none. */
export function spelledHere(model: unknown, has: (slug: string) => boolean): string | undefined {
  if (typeof model !== 'string') return undefined;
  const slash = model.indexOf('/');
  if (slash <= 0 || model.length > 500 || !has(model.slice(0, slash))) return undefined;
  return `@${model}`;
}

/** Letters to change, add and leave out (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++)
      next.push(
        Math.min(
          (next[j] as number) + 1,
          (row[j + 1] as number) + 1,
          (row[j] as number) + (from[i] === to[j] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[to.length] as number;
}
