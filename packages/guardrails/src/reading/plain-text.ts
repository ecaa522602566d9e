/** Lower case, without accents, in one form: what texts and lists of words are compared in. */
export function plainText(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').replace(accents, '').normalize('NFC').toLowerCase();
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant.
const plain = /^[\x00-\x7f]*$/;
const accents = /[\u0300-\u036f]/g;
