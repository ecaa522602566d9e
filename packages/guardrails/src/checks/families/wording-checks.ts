import type { wordingChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { bannedTopics } from '../banned-topics.ts';
import { gibberish } from '../gibberish.ts';
import { languages } from '../languages.ts';
import { toxicity } from '../toxicity.ts';

export const wordingCompilers: CompilersOf<typeof wordingChecks> = {
  'default.languages': languages,
  'default.gibberish': gibberish,
  'default.toxicity': toxicity,
  'default.bannedTopics': bannedTopics,
};
