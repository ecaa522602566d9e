import { skillsOf } from '@sluice/a2a';
import type { AgentCard } from '@sluice/contracts/admin';
import type { Offer } from '../registry/offers-store.ts';

/** Skills have no types; the tables of both registries do. */
export const skillType = 'skill';

/** What a card offers. */
export function offersOf(card: AgentCard | null): Offer[] {
  return skillsOf(card).map(({ id, skill }) => ({
    type: skillType,
    name: id,
    detail: skill,
  }));
}
