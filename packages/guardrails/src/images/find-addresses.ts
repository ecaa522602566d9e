import { CheckError } from '../check.ts';
import { withoutEntities } from '../reading/entities.ts';
import { htmlTags } from './html-tags.ts';

/** An address to which whoever shows the text would go, and where what brings it stands. */
export interface FoundAddress {
  readonly url: string;
  readonly start: number;
  readonly end: number;
}

/** Pictures in Markdown and HTML; with `links` everything else that leads elsewhere, too. In order. */
export async function findAddresses(
  text: string,
  links: boolean,
  hasTurn: () => Promise<void>,
): Promise<FoundAddress[]> {
  const hasNames = links || text.includes('![');
  const found: FoundAddress[] = [];
  for (let from = 0; from < text.length; from += sliceLength) {
    if (from > 0) await hasTurn();
    const slice = text.slice(from, from + sliceLength + overlap);
    for (const { url, start, end } of addressesIn(slice, links, hasNames)) {
      if (start >= sliceLength) continue;
      if (found.length >= addressesMax)
        throw new CheckError('TextTooLong', `The text has more than ${addressesMax} addresses.`);
      found.push({ url, start: from + start, end: from + end });
    }
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

function* addressesIn(text: string, links: boolean, hasNames: boolean): Generator<FoundAddress> {
  yield* inlineMarkdown(text, links);
  if (hasNames) yield* definitions(text);
  yield* htmlAddresses(text, links);
  if (links) yield* bareAddresses(text);
}

const addressesMax = 10_000;
/** Some milliseconds of looking, whatever the text is. */
const sliceLength = 32 * 1024;
/** What begins in a slice is read to its end. */
const overlap = 8 * 1024;

/** `![alt](address "title")`; a link is the same without its mark. */
function* inlineMarkdown(text: string, links: boolean): Generator<FoundAddress> {
  const opening = links ? '[' : '![';
  let at = text.indexOf(opening);
  let left = readMax;
  while (at !== -1) {
    const middle = text.indexOf('](', at);
    if (middle === -1) return;
    // The last one that opens before it: what opened before that is not closed.
    const start = text.lastIndexOf(opening, middle);
    const target = targetAt(text, middle + 2);
    left -= target.written.length;
    if (left < 0)
      throw new CheckError('TextTooLong', 'The text has too many addresses within addresses.');
    for (const url of readingsOf(target.written))
      yield {
        url,
        start: links && text[start - 1] === '!' ? start - 1 : start,
        end: target.end,
      };
    // Within what follows there may be another, where this one is none for want of an end.
    at = text.indexOf(opening, middle + 2);
  }
}

/** The address that begins behind the bracket, and where its closing bracket ends. */
function targetAt(text: string, from: number): { written: string; end: number } {
  const rest = text.slice(from, from + targetMax);
  const written = /^\s{0,10}(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))/.exec(rest);
  const urlEnd = written?.[0].length ?? 0;
  const behind = rest.slice(urlEnd, urlEnd + titleMax).indexOf(')');
  return { written: written?.[1] ?? written?.[2] ?? '', end: from + urlEnd + behind + 1 };
}

/** What may be read from what Markdown has for an address. */
function readingsOf(written: string): string[] {
  const plain = withoutEntities(written) ?? written;
  // Some take backslashes for what hides the next character, others as they stand.
  const readings = [written, plain, withoutEscapes(written), withoutEscapes(plain)];
  return [...new Set(readings)].filter((one) => one !== '');
}

function withoutEscapes(text: string): string {
  return text.replace(/\\([!-/:-@[-`{-~])/g, '$1');
}

/** More than any address has. */
const targetMax = 8_000;
const titleMax = 500;
/** Of all addresses of a slice, in characters: one that does not end has all that begin within it once more. */
const readMax = 8 * (sliceLength + overlap);

/** `[name]: address`, which pictures use by its name; in quotes and lists, too. */
function* definitions(text: string): Generator<FoundAddress> {
  for (const { 0: all, 1: written = '', index } of text.matchAll(definition))
    for (const url of readingsOf(written)) yield { url, start: index, end: index + all.length };
}

const definition =
  /^(?:[ \t]{0,20}(?:>|[-+*]|\d{1,9}[.)])){0,20}[ \t]{0,20}\[(?:[^[\]\\]|\\[\s\S]){1,999}\]:[ \t]{0,20}\n?[ \t>]{0,20}<?([^\s<>]{1,8000})>?/gm;

function* htmlAddresses(text: string, links: boolean): Generator<FoundAddress> {
  for (const { name, attributes, start, end } of htmlTags(text, links ? linking : showing))
    for (const [attribute, value] of attributes)
      for (const read of new Set([value, withoutEntities(value) ?? value]))
        for (const url of addressesOf(name, attribute, read)) yield { url, start, end };
}

/** Elements that fetch as soon as they are shown. */
const showing =
  /^(?:img|image|source|video|audio|track|iframe|frame|embed|object|input|link|use|svg|body|table|td|th|div|span|p)$/;
const linking = new RegExp(`${showing.source.slice(0, -2)}|a|area|form|button|base|meta)$`);

function addressesOf(name: string, attribute: string, value: string): string[] {
  switch (attribute) {
    case 'src':
    case 'poster':
    case 'background':
    case 'data':
    case 'xlink:href':
    case 'action':
    case 'formaction':
      return [value];
    case 'href':
      return name === 'base' || /^(?:a|area|link|image|use)$/.test(name) ? [value] : [];
    case 'srcset':
      return value.split(',').map((candidate) => candidate.trim().split(/\s/, 1)[0] ?? '');
    case 'style':
      return addressesOfStyle(value);
    default:
      return [];
  }
}

/** Of `url()`, and of texts, which are addresses in `image-set()`. */
function addressesOfStyle(value: string): string[] {
  const style = value.replace(/\\([0-9a-f]{1,6})\s?/gi, (all, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0x10ffff ? all : String.fromCodePoint(code);
  });
  return [/url\(\s{0,10}["']?([^"')]{1,8000})/gi, /"([^"]{1,8000})"/g, /'([^']{1,8000})'/g].flatMap(
    (pattern) => [...style.matchAll(pattern)].map(([, url = '']) => url),
  );
}

function* bareAddresses(text: string): Generator<FoundAddress> {
  for (const { 0: url, index } of text.matchAll(/\bhttps?:\/\/[^\s<>"'`)\]]{1,2000}/gi))
    yield { url, start: index, end: index + url.length };
}
