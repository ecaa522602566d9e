import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject } from '../envelope/read-message.ts';

/** What of a large set of tools is looked for in. */
export interface SearchedTool {
  readonly name: string;
  readonly definition: JsonObject;
}

/** How much a word in each place says, and how far its length takes from that. */
const fields: readonly { read: (tool: SearchedTool) => string; weight: number }[] = [
  { read: ({ name }) => name, weight: 4 },
  { read: ({ definition }) => titleOf(definition), weight: 3 },
  { read: ({ definition }) => textOf(definition.description), weight: 1.5 },
  { read: ({ definition }) => argumentsOf(definition), weight: 1 },
];

/** Of BM25: how soon further hits of a word add nothing, and how much long texts are worth less. */
const saturation = 1.2;
const lengthShare = 0.75;
/** Of one text; what a server writes beyond is not looked at. */
const textMax = 4_096;
const termsMax = 32;
/** A word that begins with what was asked for is worth so much of one that is it. */
const prefixWorth = 0.6;
const prefixMin = 3;

/**
 * Tools by how well words of names, titles, descriptions and names of arguments fit a question (BM25 over all of them). The
 * same question over the same tools gives the same order; of two that fit alike the first one listed comes first.
 * @returns those that fit at all, best first
 */
export function searchTools<T extends SearchedTool>(tools: readonly T[], query: string): T[] {
  const terms = [...new Set(wordsOf(query))].slice(0, termsMax);
  const read = tools.map((tool) =>
    fields.map((field) => wordsOf(field.read(tool).slice(0, textMax))),
  );
  const averages = fields.map(
    (_, at) =>
      read.reduce((sum, words) => sum + (words[at] as string[]).length, 0) / (tools.length || 1),
  );
  const scores = new Float64Array(tools.length);
  for (const term of terms) {
    const hits = read.map((words) => hitsOf(words, term, averages));
    const found = hits.filter((score) => score > 0).length;
    const rarity = Math.log(1 + (tools.length - found + 0.5) / (found + 0.5));
    for (const [at, score] of hits.entries()) scores[at] = (scores[at] as number) + rarity * score;
  }
  return tools
    .map((tool, at) => ({ tool, at, score: scores[at] as number }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .map(({ tool }) => tool);
}

function hitsOf(texts: readonly string[][], term: string, averages: readonly number[]): number {
  let weighted = 0;
  for (const [at, words] of texts.entries()) {
    let hits = 0;
    for (const word of words)
      if (word === term) hits += 1;
      else if (term.length >= prefixMin && word.startsWith(term)) hits += prefixWorth;
      else if (word.length >= prefixMin && term.startsWith(word)) hits += prefixWorth;
    const long = words.length / (averages[at] || 1);
    weighted += ((fields[at]?.weight ?? 0) * hits) / (1 - lengthShare + lengthShare * long);
  }
  return (weighted * (saturation + 1)) / (weighted + saturation);
}

/** `getUserByID` and `get_user-by.id` are the same words. */
export function wordsOf(text: string): string[] {
  return text
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

function titleOf({ title, annotations }: JsonObject): string {
  const other = isObject(annotations) ? annotations.title : undefined;
  return textOf(title) || textOf(other);
}

function argumentsOf({ inputSchema }: JsonObject): string {
  const properties = isObject(inputSchema) ? inputSchema.properties : undefined;
  return isObject(properties) ? Object.keys(properties).slice(0, 100).join(' ') : '';
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
