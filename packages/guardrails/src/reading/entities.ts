/** By HTML's names: ASCII's marks, and what has no width. Letters have names in other faces alone. */
const named: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ amp: '&', AMP: '&', lt: '<', LT: '<', gt: '>', GT: '>', quot: '"', QUOT: '"', apos: "'" },
    ...{ nbsp: ' ', Tab: '\t', NewLine: '\n', excl: '!', num: '#', dollar: '$', percnt: '%' },
    ...{
      lpar: '(',
      rpar: ')',
      ast: '*',
      midast: '*',
      plus: '+',
      comma: ',',
      period: '.',
      sol: '/',
    },
    ...{ colon: ':', semi: ';', equals: '=', quest: '?', commat: '@', lsqb: '[', lbrack: '[' },
    ...{ bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_', grave: '`' },
    ...{
      lcub: '{',
      lbrace: '{',
      verbar: '|',
      vert: '|',
      VerticalLine: '|',
      rcub: '}',
      rbrace: '}',
    },
    ...{ hyphen: '-', dash: '-', fjlig: 'fj', shy: '', zwj: '', zwnj: '', ZeroWidthSpace: '' },
    ...{ NoBreak: '', ApplyFunction: '', af: '', InvisibleTimes: '', it: '' },
  }),
);

/**
 * A character as HTML and XML write it, by number or by name, also where the `&` is written so itself. Models read it as the
 * character, and letters of other faces (`&afr;`) as letters.
 */
export const entity =
  '&(?:amp;){0,3}(?:#\\d{1,7};?|#[xX][0-9a-fA-F]{1,6};?|(?:[A-Za-z](?:fr|opf|scr)|' +
  `${[...named.keys()].join('|')});)`;
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
  if (number === undefined) return named.get(name) ?? /^(.)(?:fr|opf|scr)$/.exec(name)?.[1] ?? '';
  const code = /^x/i.test(number) ? Number.parseInt(number.slice(1), 16) : Number(number);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
