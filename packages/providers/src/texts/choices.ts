import type { JsonObject } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';
import type { EventTexts } from './text-format.ts';

/** One of a document's choices, and what makes the document with another in its place. */
export interface Choice {
  choice: JsonObject | undefined;
  put(choice: JsonObject): JsonObject;
}

/** Of a reply: the first. */
export function firstChoice(reply: JsonObject): Choice {
  return choiceAt(reply, 0);
}

/** Of a chunk: the part of the first choice, wherever it stands; what has no index is the first. */
export function streamedChoice(chunk: JsonObject): Choice {
  const choices = arrayOf(chunk.choices);
  return choiceAt(chunk, choices?.findIndex((item) => (objectOf(item)?.index ?? 0) === 0) ?? -1);
}

function choiceAt(document: JsonObject, at: number): Choice {
  const choices = arrayOf(document.choices);
  return {
    choice: objectOf(choices?.[at]),
    put: (choice) => ({ ...document, choices: choices?.with(at, choice) ?? [] }),
  };
}

export function modelOf({ model }: JsonObject): EventTexts {
  return typeof model === 'string' && model !== '' ? { model } : {};
}
