import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JsonObject, JsonValue } from '@sluice/providers';

/** A document as JSON, and others have their turn while it is written: for bodies that are large. */
export async function writeInTurns(document: JsonObject): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let text = '';
  for (const piece of piecesOf(document)) {
    text += piece;
    if (text.length < turnLength) continue;
    chunks.push(Buffer.from(text));
    text = '';
    await nextTurn();
  }
  chunks.push(Buffer.from(text));
  await nextTurn();
  return Buffer.concat(chunks);
}

/** Characters: a millisecond of writing. */
const turnLength = 128 * 1024;

function* piecesOf(value: JsonValue): Generator<string> {
  if (typeof value === 'string') yield* piecesOfText(value);
  else if (typeof value !== 'object' || value === null) yield JSON.stringify(value);
  else if (Array.isArray(value)) {
    let before = '[';
    for (const item of value) {
      yield before;
      yield* piecesOf(item);
      before = ',';
    }
    yield before === '[' ? '[]' : ']';
  } else {
    let before = '{';
    for (const [name, item] of Object.entries(value)) {
      yield `${before}${JSON.stringify(name)}:`;
      yield* piecesOf(item);
      before = ',';
    }
    yield before === '{' ? '{}' : '}';
  }
}

function* piecesOfText(text: string): Generator<string> {
  if (text.length <= turnLength) {
    yield JSON.stringify(text);
    return;
  }
  yield '"';
  // Half a character at the end of a piece is written by its number, and so is the other half.
  for (let at = 0; at < text.length; at += turnLength)
    yield JSON.stringify(text.slice(at, at + turnLength)).slice(1, -1);
  yield '"';
}
