import { withoutEntities } from '../reading/entities.ts';

/** What a text says in writings that people do not read: each as the text that it stands for. */
export function decodedTexts(text: string): string[] {
  const found: string[] = [];
  const add = (decoded: string | undefined) => {
    if (decoded !== undefined && found.length < decodedMax) found.push(decoded);
  };
  for (const [run] of text.matchAll(base64)) {
    if (found.length >= decodedMax) break;
    add(readable(Buffer.from(run, 'base64')));
  }
  for (const [run] of text.matchAll(hex)) {
    if (found.length >= decodedMax) break;
    add(readable(Buffer.from(run.replace(/\\x|0x|\s/gi, ''), 'hex')));
  }
  if (percent.test(text)) add(percentDecoded(text));
  if (numbered.test(text)) add(withoutEntities(text));
  if (escapes.test(text))
    add(text.replace(/\\u([0-9a-f]{4})/gi, (_all, digits: string) => unit(digits, 16)));
  if (hasTwo(text, turnedLetters)) add(text.replace(/[a-z]/gi, rotate));
  if (hasTwo(text, backwards)) add([...text].reverse().join(''));
  return found;
}

/** More than anybody sends for a good reason. */
const decodedMax = 8;

const base64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,6000}={0,2}/g;
const hex =
  /(?<![0-9a-zA-Z])(?:[0-9a-f]{24,8000}|(?:\\x[0-9a-f]{2}){8,2000}|(?:[0-9a-f]{2} ){10,2000}[0-9a-f]{2})(?![0-9a-zA-Z])/gi;
const percent = /(?:%[0-9a-f]{2}){6}/i;
const numbered = /&(?:amp;){0,3}#x?[0-9a-f]{2,7}/i;
const escapes = /(?:\\u[0-9a-f]{4}){3}/i;

/** A text, and not whatever else is written in these letters. */
function readable(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  if (text.length < 8 || text.includes('\ufffd')) return undefined;
  let odd = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) odd++;
  }
  return odd > 0 ? undefined : text;
}

function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      // Bytes of no text.
      return run;
    }
  });
}

function unit(digits: string, base: number): string {
  const code = Number.parseInt(digits, base);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function rotate(letter: string): string {
  const base = letter <= 'Z' ? 65 : 97;
  return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
}

function hasTwo(text: string, sought: readonly RegExp[]): boolean {
  let count = 0;
  for (const pattern of sought) if (pattern.test(text) && ++count > 1) return true;
  return false;
}

/** Words of attempts, rotated by 13 letters. */
const turnedLetters = [
  /vtaber/i, // ignore
  /vafgehpgvba/i, // instruction
  /flfgrz/i, // system
  /cebzcg/i, // prompt
  /sbetrg/i, // forget
  /\behyrf\b/i, // rules
  /qvfertneq/i, // disregard
  /cnffjbeq/i, // password
];
/** The same, backwards. */
const backwards = [
  /erongi/i,
  /snoitcurtsni/i,
  /metsys/i,
  /tpmorp/i,
  /tegrof/i,
  /\bselur\b/i,
  /dragersid/i,
  /drowssap/i,
];
