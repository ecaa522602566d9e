const parameter = /[ \t]*;[ \t]*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/gy;

/**
 * The parameters of a header such as `form-data; name="a"; filename="b"`, names
 * in lower case. Undefined when it has another form, or one of them twice: which
 * one counts is for nobody to guess.
 */
export function headerParameters(value: string): Map<string, string> | undefined {
  const first = value.indexOf(';');
  const parameters = new Map<string, string>();
  let at = first < 0 ? value.length : first;
  while (at < value.length) {
    parameter.lastIndex = at;
    const match = parameter.exec(value);
    if (match === null) return /^[ \t]*;?[ \t]*$/.test(value.slice(at)) ? parameters : undefined;
    const [whole, name = '', quoted, plain = ''] = match;
    const key = name.toLowerCase();
    if (parameters.has(key)) return undefined;
    // Only these two are escaped; a browser's `C:\sound.mp3` is not.
    parameters.set(key, quoted?.replace(/\\(["\\])/g, '$1') ?? plain);
    at += whole.length;
  }
  return parameters;
}
