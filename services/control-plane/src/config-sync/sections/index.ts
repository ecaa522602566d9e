import { configs } from './configs.ts';
import { partialVersions } from './partial-versions.ts';
import { partials } from './partials.ts';
import { promptVersions } from './prompt-versions.ts';
import { prompts } from './prompts.ts';
import type { SectionSource } from './section-source.ts';

/** In the order in which they are sent. */
export const sections: readonly SectionSource[] = [
  configs,
  prompts,
  partials,
  promptVersions,
  partialVersions,
];

/** By name. */
export function formatsOf(all: readonly SectionSource[]): Record<string, number> {
  return Object.fromEntries(all.map(({ name, format }) => [name, format]));
}
