import type { Texts } from '@sluice/providers';
import { withoutEntities } from './entities.ts';

/**
 * How else models read these texts: the parts of one message as the one text that
 * they are, and entities as their characters. What is looked for and must not be
 * there is looked for in each; nearly every text has no other reading.
 */
export function furtherReadings({ joined, together }: Pick<Texts, 'joined' | 'together'>) {
  const readings: string[] = [];
  const messages = together?.() ?? '';
  if (messages !== '') readings.push(messages);
  const plain = withoutEntities(messages === '' ? joined : `${joined}\n${messages}`);
  if (plain !== undefined) readings.push(plain);
  return readings;
}
