/**
 * A character as HTML and XML write it, by number or by one of XML's names, also
 * where the `&` is written so itself. Models read it as the character.
 */
export const entity =
  '&(?:amp;){0,3}(?:#\\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|(?:amp|lt|gt|quot|apos|nbsp);)';
const entities = new RegExp(entity, 'g');

/** The text with the characters themselves; undefined = there is none in it. */
export function withoutEntities(text: string): string | undefined {
  if (!text.includes('&')) return undefined;
  const plain = text.replace(entities, characterOf);
  return plain === text ? undefined : plain;
}

/** Of one entity, written in whatever way. */
export function characterOf(written: string): string {
  const [, number, name = ''] = /(?:#(x?[0-9a-f]+);?|([a-z]+);)$/i.exec(written) ?? [];
  if (number === undefined) return named[name] ?? '';
  const code = /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number(number);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};
