import type { Script } from './scripted-model.ts';

/** Pieces of text as a stream sends them; joined they are the answer. */
export interface AnswerText {
  pieces: readonly string[];
  tokens: number;
  /** The caller's limit was reached first. */
  isCut: boolean;
}

const quoteMax = 200;
const scripted = new Map<number, readonly string[]>();
const scriptedMax = 100;

/** Counts as vendors' rule of thumb has it: four characters a token. */
export function tokensIn(text: string): number {
  return Math.ceil(text.length / 4);
}

/** The answer to a prompt: always the same for the same prompt. */
export function answerTo(
  prompt: string,
  script: Script,
  tokensMax: number | undefined,
): AnswerText {
  const pieces =
    script.events === undefined ? inWords(sentence(prompt)) : scriptedPieces(script.events);
  return limit(pieces, tokensMax);
}

/** A given text as an answer: JSON for a schema, say. */
export function answerWith(text: string, tokensMax?: number): AnswerText {
  return limit(inWords(text), tokensMax);
}

function sentence(prompt: string): string {
  const said = prompt.trim().replaceAll(/\s+/g, ' ');
  if (said === '') return 'This is the Sluice demo model. Ask me anything.';
  const quote = said.length > quoteMax ? `${said.slice(0, quoteMax)}...` : said;
  return `This is the Sluice demo model. You said: "${quote}"`;
}

function inWords(text: string): readonly string[] {
  return text.match(/\s*\S+/g) ?? [text];
}

function scriptedPieces(count: number): readonly string[] {
  const known = scripted.get(count);
  if (known !== undefined) return known;
  const pieces = Array.from({ length: count }, (_, index) =>
    index === 0 ? 'word' : ` word${index}`,
  );
  if (scripted.size < scriptedMax) scripted.set(count, pieces);
  return pieces;
}

function limit(pieces: readonly string[], tokensMax: number | undefined): AnswerText {
  let characters = 0;
  for (const piece of pieces) characters += piece.length;
  const tokens = Math.ceil(characters / 4);
  if (tokensMax === undefined || tokens <= tokensMax) return { pieces, tokens, isCut: false };
  const kept = pieces.join('').slice(0, Math.max(1, tokensMax * 4));
  return { pieces: inWords(kept), tokens: tokensMax, isCut: true };
}
