import { setImmediate } from 'node:timers/promises';

/** A few thousand characters: some milliseconds of looking, whatever the text is. */
export const sliceLength = 6 * 1024;
/** What begins in one slice and ends in the next is in both. */
const overlap = 512;

/**
 * Looks at each slice of some texts, and puts the findings together. Others have
 * their turn between slices; a text of one slice is looked at at once.
 */
export function lookInSlices<Text extends { readonly text: string }, Seen, Result>(
  texts: readonly Text[],
  look: (slice: string, from: Text) => Seen,
  finish: (seen: readonly Seen[]) => Result,
): Result | Promise<Result> {
  if (texts.reduce((sum, { text }) => sum + text.length, 0) <= sliceLength)
    return finish(texts.map((from) => look(from.text, from)));
  const slices = texts.flatMap((from) => slicesOf(from.text).map((slice) => ({ slice, from })));
  return lookInTurns(slices, look).then(finish);
}

async function lookInTurns<Text, Seen>(
  slices: readonly { readonly slice: string; readonly from: Text }[],
  look: (slice: string, from: Text) => Seen,
): Promise<Seen[]> {
  const seen: Seen[] = [];
  let sinceTurn = 0;
  for (const { slice, from } of slices) {
    sinceTurn += slice.length;
    if (sinceTurn > sliceLength && seen.length > 0) {
      await setImmediate();
      sinceTurn = slice.length;
    }
    seen.push(look(slice, from));
  }
  return seen;
}

function slicesOf(text: string): string[] {
  if (text.length <= sliceLength) return [text];
  const slices: string[] = [];
  for (let at = 0; at < text.length; at += sliceLength - overlap)
    slices.push(text.slice(at, at + sliceLength));
  return slices;
}
