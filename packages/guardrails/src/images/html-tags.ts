import { CheckError } from '../check.ts';

export interface HtmlTag {
  /** Lower case. */
  readonly name: string;
  /** As they are written, entities and all. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly start: number;
  readonly end: number;
}

/**
 * The opening tags of some elements, read as browsers do: quotes hide what would
 * close them. What stands within a tag is read too, since Markdown sees no tag
 * where another than browsers' rules for one are broken.
 */
export function* htmlTags(text: string, names: RegExp): Generator<HtmlTag> {
  let read = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1)) {
    const name = /^[a-z]{1,12}(?=[\s/>])/i.exec(text.slice(at + 1, at + 14))?.[0].toLowerCase();
    if (name === undefined || !names.test(name)) continue;
    const { attributes, end } = attributesAt(text, at + 1 + name.length);
    yield { name, attributes, start: at, end };
    read += end - at;
    if (read > readMax + 3 * text.length)
      throw new CheckError('TextTooLong', 'The text has too many tags within tags.');
  }
}

/** Tags within tags cost the square of their number. */
const readMax = 10_000;

function attributesAt(text: string, from: number) {
  const attributes = new Map<string, string>();
  attribute.lastIndex = from;
  for (let end = from; ; end = attribute.lastIndex) {
    const found = attribute.exec(text);
    if (found === null) {
      const close = /^[\s/]{0,100}>/.exec(text.slice(end, end + 101));
      if (close !== null) return { attributes, end: end + close[0].length };
      return { attributes, end };
    }
    const { 1: name = '', 2: double, 3: single, 4: bare } = found;
    const value = double ?? single ?? bare ?? '';
    if (!attributes.has(name.toLowerCase())) attributes.set(name.toLowerCase(), value);
  }
}

const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/y;
