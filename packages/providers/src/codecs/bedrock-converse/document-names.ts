/**
 * Converse wants a name for each document, each another, of letters, digits,
 * single spaces, hyphens, parentheses and brackets. Names are made in order,
 * so the same conversation gets the same names and its cache stays valid.
 */
export class DocumentNames {
  #taken = new Set<string>();

  take(filename: string | undefined, format: string): string {
    const base = cleaned(filename ?? '', format) || 'document';
    let name = base;
    for (let copy = 2; this.#taken.has(name); copy++) name = `${base} (${copy})`;
    this.#taken.add(name);
    return name;
  }
}

const nameCharactersMax = 190;

function cleaned(filename: string, format: string): string {
  const ending = `.${format}`;
  const stem = filename.toLowerCase().endsWith(ending)
    ? filename.slice(0, -ending.length)
    : filename;
  return stem
    .replace(/[^A-Za-z0-9\s()[\]-]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, nameCharactersMax)
    .trim();
}
