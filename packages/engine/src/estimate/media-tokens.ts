import { type MediaBytes, mediaSeconds } from './media-seconds.ts';

/**
 * How a vendor's models count what is no text. Sources: the vendors' pages on
 * images, sound and documents, read on 2026-11-22. What cannot be known before
 * it is sent – the size of a picture behind an address – counts as the largest.
 */
export type MediaRule = 'openai' | 'anthropic' | 'gemini';

export interface Picture {
  /** Pixels; undefined = not known. */
  width: number | undefined;
  height: number | undefined;
  /** OpenAI's `detail: low`. */
  isLow: boolean;
}

export function pictureTokens(rule: MediaRule, { width, height, isLow }: Picture): number {
  const isKnown = width !== undefined && height !== undefined && width > 0 && height > 0;
  if (rule === 'openai') {
    if (isLow) return openAiBase;
    return isKnown ? openAiBase + openAiTile * tilesOf(width, height) : openAiBase + openAiTile * 8;
  }
  if (rule === 'anthropic')
    return isKnown ? Math.min(claudeMax, Math.ceil((width * height) / 750)) : claudeMax;
  if (!isKnown) return geminiTile * 16;
  // Small pictures are one tile; larger ones are cut.
  if (width <= 384 && height <= 384) return geminiTile;
  const side = Math.max(256, Math.min(768, Math.floor(Math.min(width, height) / 1.5)));
  return geminiTile * Math.ceil(width / side) * Math.ceil(height / side);
}

const openAiBase = 85;
const openAiTile = 170;
/** A picture of 1,568 pixels a side at 28 pixels a token, the most that any Claude makes of one. */
const claudeMax = 4784;
const geminiTile = 258;

/** Fitted into 2,048 pixels, its shorter side brought to 768, in squares of 512. */
function tilesOf(width: number, height: number): number {
  const fit = Math.min(1, 2048 / Math.max(width, height));
  const shrink = Math.min(1, 768 / (Math.min(width, height) * fit));
  const scale = fit * shrink;
  return Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512);
}

export function soundTokens(rule: MediaRule, seconds: number): number {
  return Math.ceil(seconds * (rule === 'gemini' ? 32 : 10)) + 1;
}

/**
 * As Gemini counts: a picture for each frame, and the sound
 * (https://ai.google.dev/gemini-api/docs/video-understanding, November 2026). Others that see video count less.
 * @param framesPerSecond that are asked for; one where nobody asks
 */
export function videoTokens(rule: MediaRule, seconds: number, framesPerSecond = 1): number {
  const frames = Math.min(framesPerSecondMax, Math.max(1, framesPerSecond));
  return Math.ceil(seconds * geminiTile * frames) + soundTokens(rule, seconds);
}

const framesPerSecondMax = 24;

/** @param bytes of the sound as it was sent, decoded */
export function secondsOfSound(bytes: MediaBytes, format: string): number {
  const { length } = bytes;
  const told = mediaSeconds(bytes);
  if (told !== undefined) return Math.max(told, length / soundBytesMax);
  // Uncompressed sound has 32 kB a second at least, compressed speech seldom less than 4.
  return length / (/wav|pcm|flac/.test(format) ? 32_000 : 4000);
}

/** @param bytes undefined = it is named, not sent */
export function secondsOfVideo(bytes: MediaBytes | undefined): number {
  if (bytes === undefined) return namedSeconds;
  const told = mediaSeconds(bytes);
  // A small picture of a screen has 16 kB a second.
  return told === undefined ? bytes.length / 16_000 : Math.max(told, bytes.length / videoBytesMax);
}

/** Seldom is more sent a second: headers that say so may hide how long it is. */
const soundBytesMax = 1_000_000;
const videoBytesMax = 2_500_000;
/** Sound and video that are named may be as long as the model's context has room for; ten minutes are held. */
const namedSeconds = 600;

/** @param bytes of a document as it was sent, decoded; undefined = it is named, not sent */
export function documentTokens(rule: MediaRule, bytes: number | undefined): number {
  // A page of text has 3 kB when it is packed well; vendors read it as text and as a picture.
  const pages = bytes === undefined ? documentPagesMax : Math.min(documentPagesMax, bytes / 3000);
  return Math.ceil(Math.max(1, pages) * (rule === 'gemini' ? geminiTile : 3000));
}

const documentPagesMax = 100;
