import { TemplateFault } from './template-fault.ts';

/** A piece of a parsed template. */
export type TemplateNode =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly name: string; readonly escaped: boolean }
  | {
      readonly kind: 'section';
      readonly name: string;
      readonly inverted: boolean;
      readonly children: readonly TemplateNode[];
    }
  | {
      readonly kind: 'partial';
      readonly name: string;
      /** The partial is the one that a variable of this name tells. */
      readonly isVariable: boolean;
      /** White space before a partial that has a line to itself: each of its lines begins with it. */
      readonly indent: string;
    };

export type Template = readonly TemplateNode[];

/** What stands in a template one after the other, before sections are nested. */
type Token =
  | { kind: 'text'; text: string }
  | { kind: 'value'; name: string; escaped: boolean }
  | { kind: 'open'; name: string; inverted: boolean }
  | { kind: 'close'; name: string }
  | { kind: 'partial'; name: string; isVariable: boolean; indent: string }
  | { kind: 'nothing' };

const tagSigns = new Set(['#', '^', '/', '>', '{', '&', '=', '!']);
const sectionsDepthMax = 50;

/**
 * Parses a Mustache template: values, sections, comments, partials and changed
 * delimiters. A tag that is never closed is text.
 * @throws TemplateFault when sections do not match
 */
export function parseTemplate(source: string): Template {
  const reader = new TokenReader(source);
  return nest(reader.read());
}

/** Splits the source at its tags, and removes lines that hold nothing but tags without a value. */
class TokenReader {
  readonly #source: string;
  #at = 0;
  #opening = '{{';
  #closing = '}}';
  readonly #tokens: Token[] = [];
  /** Ends of tags that do not come any more: looking for them again and again would take forever. */
  readonly #absent = new Set<string>();
  /** Where the line that is being read begins among the tokens. */
  #lineStart = 0;
  #lineHasTag = false;
  #lineHasContent = false;

  constructor(source: string) {
    this.#source = source;
  }

  read(): Token[] {
    for (;;) {
      const tag = this.#source.indexOf(this.#opening, this.#at);
      if (tag < 0) break;
      this.#addText(this.#source.slice(this.#at, tag));
      this.#at = tag + this.#opening.length;
      if (!this.#readTag()) this.#addText(this.#opening);
    }
    this.#addText(this.#source.slice(this.#at));
    this.#endLine();
    return this.#tokens;
  }

  /** False when the tag is not closed; nothing of it is read then. */
  #readTag(): boolean {
    const first = skipSpace(this.#source, this.#at);
    const sign = tagSigns.has(this.#source.charAt(first)) ? this.#source.charAt(first) : '';
    const start = first + sign.length;
    const closing =
      sign === '{' ? `}${this.#closing}` : sign === '=' ? `=${this.#closing}` : this.#closing;
    const end = this.#absent.has(closing) ? -1 : this.#source.indexOf(closing, start);
    if (end < 0) {
      this.#absent.add(closing);
      return false;
    }
    const name = this.#source.slice(start, end).trim();
    this.#at = end + closing.length;
    this.#addTag(sign, name);
    return true;
  }

  #addTag(sign: string, name: string): void {
    this.#lineHasTag = true;
    switch (sign) {
      case '#':
      case '^':
        this.#tokens.push({ kind: 'open', name, inverted: sign === '^' });
        return;
      case '/':
        this.#tokens.push({ kind: 'close', name });
        return;
      case '>': {
        const isVariable = name.startsWith('>');
        const named = isVariable ? name.slice(1).trim() : name;
        this.#tokens.push({ kind: 'partial', name: named, isVariable, indent: '' });
        return;
      }
      case '!':
        return;
      case '=':
        this.#changeDelimiters(name);
        return;
      default:
        this.#lineHasContent = true;
        this.#tokens.push({ kind: 'value', name, escaped: sign === '' });
    }
  }

  #changeDelimiters(text: string): void {
    const [opening, closing, ...more] = text.split(/\s+/);
    if (!opening || !closing || more.length > 0 || text.includes('='))
      throw new TemplateFault(`"${text.slice(0, 40)}" are no delimiters`);
    this.#opening = opening;
    this.#closing = closing;
  }

  #addText(text: string): void {
    for (let start = 0; start < text.length; ) {
      const newline = text.indexOf('\n', start);
      const end = newline < 0 ? text.length : newline + 1;
      const part = text.slice(start, end);
      this.#tokens.push({ kind: 'text', text: part });
      if (part.trim() !== '') this.#lineHasContent = true;
      if (newline >= 0) this.#endLine();
      start = end;
    }
  }

  #endLine(): void {
    if (this.#lineHasTag && !this.#lineHasContent) this.#dropSpaceOfLine();
    this.#lineStart = this.#tokens.length;
    this.#lineHasTag = false;
    this.#lineHasContent = false;
  }

  #dropSpaceOfLine(): void {
    let indent = '';
    for (let index = this.#lineStart; index < this.#tokens.length; index += 1) {
      const token = this.#tokens[index];
      if (token?.kind === 'text') {
        indent += token.text;
        this.#tokens[index] = { kind: 'nothing' };
      } else if (token?.kind === 'partial') token.indent = indent;
    }
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && /\s/.test(text.charAt(at))) at += 1;
  return at;
}

/** Puts what stands between an opening and a closing tag into its section. */
function nest(tokens: readonly Token[]): Template {
  const root: TemplateNode[] = [];
  const open: { name: string; children: TemplateNode[] }[] = [];
  let children = root;
  for (const token of tokens) {
    if (token.kind === 'nothing') continue;
    if (token.kind === 'open') {
      if (open.length === sectionsDepthMax)
        throw new TemplateFault(`sections are nested deeper than ${sectionsDepthMax}`);
      const { name, inverted } = token;
      const inner: TemplateNode[] = [];
      children.push({ kind: 'section', name, inverted, children: inner });
      open.push({ name, children });
      children = inner;
    } else if (token.kind === 'close') {
      const section = open.pop();
      if (section === undefined)
        throw new TemplateFault(`section "${token.name}" is closed without having been opened`);
      if (section.name !== token.name)
        throw new TemplateFault(`section "${section.name}" is closed as "${token.name}"`);
      children = section.children;
    } else children.push(token);
  }
  const unclosed = open.pop();
  if (unclosed !== undefined) throw new TemplateFault(`section "${unclosed.name}" is never closed`);
  return root;
}
