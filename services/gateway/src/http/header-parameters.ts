/** Far longer than a boundary and a file name; anything beyond has another purpose. */
const lengthMax = 8 * 1024;

/**
 * The parameters of a header such as `form-data; name="a"; filename="b"`, names
 * in lower case. Undefined when it has another form, or one of them twice: which
 * one counts is for nobody to guess. By hand: each character is looked at once,
 * however many spaces and quotes there are.
 * @param onEscaped told of each whose value has a backslash that stands for something else to this reader, as to RFC 9110, Go and
 *   busboy, and for itself to browsers
 */
export function headerParameters(
  value: string,
  onEscaped?: (name: string) => void,
): Map<string, string> | undefined {
  if (value.length > lengthMax) return undefined;
  const parameters = new Map<string, string>();
  const first = value.indexOf(';');
  let at = first < 0 ? value.length : first;
  while (at < value.length) {
    at = afterSpace(value, at);
    if (at === value.length) break;
    if (value[at] !== ';') return undefined;
    at = afterSpace(value, at + 1);
    // A last semicolon that nothing follows.
    if (at === value.length) break;
    const equals = nameEnd(value, at);
    if (equals === at || value[equals] !== '=') return undefined;
    const name = value.slice(at, equals).toLowerCase();
    if (parameters.has(name)) return undefined;
    const start = equals + 1;
    if (value[start] === '"') {
      at = quotedEnd(value, start);
      if (at < 0) return undefined;
      const quoted = value.slice(start + 1, at - 1);
      // Only these two are escaped; a browser's `C:\sound.mp3` is not.
      const meant = quoted.replace(/\\(["\\])/g, '$1');
      if (meant !== quoted) onEscaped?.(name);
      parameters.set(name, meant);
    } else {
      at = plainEnd(value, start);
      parameters.set(name, value.slice(start, at));
    }
  }
  return parameters;
}

function afterSpace(value: string, from: number): number {
  let at = from;
  while (value[at] === ' ' || value[at] === '\t') at++;
  return at;
}

function nameEnd(value: string, from: number): number {
  let at = from;
  while (at < value.length && !'=;"'.includes(value.charAt(at)) && !isSpace(value, at)) at++;
  return at;
}

function plainEnd(value: string, from: number): number {
  let at = from;
  while (at < value.length && value[at] !== ';' && value[at] !== '"' && !isSpace(value, at)) at++;
  return at;
}

/** The position after the closing quote; -1 when there is none. */
function quotedEnd(value: string, opening: number): number {
  let at = opening + 1;
  while (at < value.length && value[at] !== '"') at += value[at] === '\\' ? 2 : 1;
  return at < value.length ? at + 1 : -1;
}

function isSpace(value: string, at: number): boolean {
  return value.charAt(at).trim() === '';
}
