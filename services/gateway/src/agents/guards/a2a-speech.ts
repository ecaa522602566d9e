import { folded, isObject, textIn } from '@sluice/a2a';
import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isPlainMember, type SpeechFormat } from '@sluice/providers';
import { repeatedMember } from '../../http/repeated-members.ts';
import { isLabel, isNaming, isPlainName } from './hidden-names.ts';

type Heard = ReturnType<SpeechFormat['hear']>;
type Piece = Heard['pieces'][number];
type Path = Piece['path'];

/**
 * How agents that speak A2A tell their answers event by event, in JSON-RPC or without.
 * Artifacts and messages come in pieces, whose texts belong together; all else is whole.
 */
export const a2aSpeech: SpeechFormat = {
  hear(event) {
    const pieces: Piece[] = [];
    hearWithin(event, [], '', pieces);
    const isOver = isLast(event);
    return isOver ? { pieces, closes: () => true } : { pieces };
  },
  // Whoever reads the event may read another text in it, or something that is no event.
  isClear: (event, data) => event !== undefined && repeatedMember(Buffer.from(data)) === undefined,
  repeats: false,
  namesEvents: false,
  place: (_kind, { text }) => ({ path: ['texts', text] }),
  callsAreText: false,
};

/** @param artifact of which it tells; empty = of none */
function hearWithin(
  value: JsonValue | undefined,
  path: Path,
  artifact: string,
  pieces: Piece[],
): void {
  if (typeof value === 'string') {
    if (value !== '' && !isNoText(path, value)) pieces.push(pieceOf(value, path, artifact));
  } else if (typeof value === 'number') {
    if (isOfData(path)) pieces.push(pieceOf(String(value), path, artifact));
  } else if (Array.isArray(value))
    for (const [at, item] of value.entries()) hearWithin(item, [...path, at], artifact, pieces);
  else if (isObject(value))
    for (const [name, inner] of Object.entries(value)) {
      if (isSaid(name, path)) pieces.push(wholePiece(name, [...path, name], true));
      const named = folded(name) === 'artifact' ? textIn(inner, 'artifactid') : undefined;
      hearWithin(inner as JsonValue, [...path, name], named ?? artifact, pieces);
    }
}

/** What a part holds that is no text: its numbers say something. */
function isOfData(path: Path): boolean {
  return path.some(
    (step, at) =>
      isNamed(step, 'data') && typeof path[at - 1] === 'number' && isNamed(path[at - 2], 'parts'),
  );
}

function isNamed(step: string | number | undefined, name: string): boolean {
  return typeof step === 'string' && folded(step) === name;
}

function pieceOf(text: string, path: Path, artifact: string): Piece {
  const voice = voiceOf(path, artifact);
  return voice === undefined
    ? wholePiece(text, path)
    : { key: voice, kind: 'said', choice: 0, text, path };
}

function wholePiece(text: string, path: Path, isFixed = false): Piece {
  const piece = { key: '', kind: 'beside', choice: 0, text, path, isWhole: true } as const;
  // Under another name nobody would find what is there.
  return isFixed ? { ...piece, isFixed } : piece;
}

/** Whether the name of a member is a text: one of the speaker's own, or more than a name. */
function isSaid(name: string, path: Path): boolean {
  return isNamed(path.at(-1), 'metadata') || isOfData(path) || !isPlainMember(name);
}

/** Which text a piece goes on with; undefined = it is whole. */
function voiceOf(path: Path, artifact: string): string | undefined {
  const steps = path.map((step) => (typeof step === 'string' ? folded(step) : ''));
  if (steps.at(-1) !== 'text' || steps.at(-3) !== 'parts') return undefined;
  // Tasks tell of what was said before.
  if (steps.includes('artifacts') || steps.includes('history')) return undefined;
  return steps.includes('artifact') ? `artifact ${numbered(artifact)}` : 'message';
}

/** Agents write several artifacts at a time. So many are told apart that whoever holds them is not filled by their names. */
function numbered(name: string): number {
  let sum = 0;
  for (let at = 0; at < Math.min(name.length, nameLengthMax); at++)
    sum = (sum * 31 + name.charCodeAt(at)) % voicesMax;
  return sum;
}

const voicesMax = 997;
const nameLengthMax = 256;

/** Envelope, names, times, and the bytes of files, in which nobody reads words. */
function isNoText(path: Path, value: string): boolean {
  const last = path.at(-1);
  if (isLabel(path, value)) return true;
  if (typeof last === 'string' && fileBytes.has(last)) return /^[A-Za-z0-9+/_=\s-]*$/.test(value);
  if (last === 'timestamp') return /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)$/.test(value);
  return isNaming(path) && isPlainName(value);
}

const fileBytes: ReadonlySet<string> = new Set(['bytes', 'raw']);

/** Nothing goes on after it. */
function isLast(event: JsonObject): boolean {
  const { result } = event;
  const said = isObject(result) ? result : event;
  const update = isObject(said.statusUpdate) ? said.statusUpdate : said;
  return update.final === true;
}
