/** A labelled line as it would be sent, and what is in it. */
export interface LabelledLine {
  readonly text: string;
  readonly marks: readonly Mark[];
}

export interface Mark {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/** Reads `[[KIND:what]]` within a line. */
export function readLine(line: string): LabelledLine {
  const marks: Mark[] = [];
  let text = '';
  let from = 0;
  for (const { 0: written, 1: type = '', 2: what = '', index } of line.matchAll(
    /\[\[([A-Z_]+):([^\]]*)\]\]/g,
  )) {
    text += line.slice(from, index);
    marks.push({ type, start: text.length, end: text.length + what.length });
    text += what;
    from = index + written.length;
  }
  return { text: text + line.slice(from), marks };
}
