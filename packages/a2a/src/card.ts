import { JsonError, type JsonFault, jsonBounds, readJson } from '@sluice/json';
import { folded, isObject, type JsonObject } from './fold.ts';

/** What an agent says of itself, of either generation: its members are the agent's. */
export type AgentCard = JsonObject;

/** Why a document is no card. The message is fit for whoever named the agent, and begins in lower case. */
export class CardFault extends Error {
  override readonly name = 'CardFault';
}

export const cardBytesMax = 1024 * 1024;

/** Skill ids are names in tables. */
const skillIdLengthMax = 1024;

/** @throws CardFault when these bytes are no card that is fit to be read */
export function readCard(bytes: Buffer): AgentCard {
  let card: unknown;
  try {
    card = readJson(bytes, { ...jsonBounds.small, bytesMax: cardBytesMax });
  } catch (error) {
    if (error instanceof JsonError) throw new CardFault(faultTexts[error.fault]);
    throw error;
  }
  if (!isObject(card)) throw new CardFault('no JSON object');
  if (typeof card.name !== 'string' || card.name === '') throw new CardFault('without name');
  if (!isCard(card)) throw new CardFault('without url and supportedInterfaces');
  return card;
}

/** Nothing of the document is repeated: it may be no agent's. */
const faultTexts: Readonly<Record<JsonFault, string>> = {
  malformed: 'no JSON',
  'too-large': 'larger than 1 MB',
  'too-deep': 'nested too deep',
  'too-many-values': 'made of too many values',
};

/** Whether clients could take this for a card: it says where an agent is. @param isAskedFor they will whatever else it is */
export function isCard(value: unknown, isAskedFor = false): value is AgentCard {
  if (!isObject(value)) return false;
  const names = new Set<string>();
  for (const name in value) names.add(folded(name));
  if (names.has('supportedinterfaces') || names.has('additionalinterfaces')) return true;
  return names.has('url') && (isAskedFor || (names.has('name') && !names.has('parts')));
}

export interface CardSkill {
  readonly id: string;
  readonly skill: JsonObject;
}

/** What the card offers, each skill by its id; of two with one id the last. */
export function skillsOf(card: AgentCard | null): CardSkill[] {
  const skills = Array.isArray(card?.skills) ? card.skills : [];
  const found = new Map<string, CardSkill>();
  for (const skill of skills) {
    if (!isObject(skill) || typeof skill.id !== 'string') continue;
    if (skill.id === '' || skill.id.length > skillIdLengthMax) continue;
    found.set(skill.id, { id: skill.id, skill });
  }
  return [...found.values()];
}
