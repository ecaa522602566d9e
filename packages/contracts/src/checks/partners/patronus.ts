import { flag, text } from '../parameter-fields.ts';
import { apiKey, partnerParameters } from '../partner-fields.ts';

const judging = { parameters: partnerParameters({ credentials: apiKey }, 15_000) };
const redacting = { parameters: partnerParameters({ credentials: apiKey, redact: flag(false) }) };

export const patronusChecks = {
  'patronus.phi': redacting,
  'patronus.pii': redacting,
  'patronus.isConcise': judging,
  'patronus.isHelpful': judging,
  'patronus.isPolite': judging,
  'patronus.noApologies': judging,
  'patronus.noGenderBias': judging,
  'patronus.noRacialBias': judging,
  'patronus.retrievalAnswerRelevance': judging,
  'patronus.toxicity': judging,
  'patronus.custom': {
    parameters: partnerParameters({ credentials: apiKey, profile: text }, 15_000),
  },
};
