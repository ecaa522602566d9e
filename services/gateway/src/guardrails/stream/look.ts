import {
  type HeldVoice,
  type JsonObject,
  jsonPiece,
  type SpeechFormat,
  speechReply,
  type Told,
} from '@sluice/providers';
import type { HookRun } from '../hook-results.ts';

/** A part of a text that is looked at. */
export interface Slice {
  readonly voice: HeldVoice;
  readonly text: string;
  /** The text begins inside a string of JSON. */
  readonly inString: boolean;
  /** What was given just before it, and may belong to it. */
  readonly before: string;
}

export interface Look {
  readonly run: HookRun | undefined;
  /** What the checks make of each slice. */
  readonly texts: readonly string[];
}

/** Runs checks on a reply that says no more than this. Never rejects. */
export type RunChecks = (reply: JsonObject) => Promise<HookRun>;

/** What checks say of these parts, and make of them. */
export async function lookAt(
  slices: readonly Slice[],
  format: SpeechFormat,
  run: RunChecks,
): Promise<Look> {
  const pieces = slices.map(({ voice, text, inString }) =>
    voice.kind === 'called' ? jsonPiece(text, inString) : undefined,
  );
  const told = slices.map(({ voice, text, before }, at): Told => {
    const { key, kind, choice } = voice;
    return { key, kind, choice, parts: pieces[at]?.values ?? [before + text] };
  });
  if (told.every(({ parts }) => parts.every((part) => part === '')))
    return { run: undefined, texts: slices.map(({ text }) => text) };
  const { reply, read } = speechReply(format, told);
  const ran = await run(reply);
  if (ran.response === undefined) return { run: ran, texts: slices.map(({ text }) => text) };
  const changed = read(ran.response);
  // What reaches into words that are given cannot be changed there: these are looked at alone.
  if (slices.some(({ before }, at) => changed[at]?.[0]?.startsWith(before) === false)) {
    const alone = await lookAt(
      slices.map((slice) => ({ ...slice, before: '' })),
      format,
      run,
    );
    return { run: ran, texts: alone.texts };
  }
  return {
    run: ran,
    texts: slices.map(({ text, before }, at) => {
      const parts = changed[at];
      const piece = pieces[at];
      // Whoever takes a text away wants it withheld; half a call is no call.
      if (parts === undefined) return piece === undefined ? '' : text;
      return piece === undefined ? (parts[0] ?? '').slice(before.length) : piece.withValues(parts);
    }),
  };
}
