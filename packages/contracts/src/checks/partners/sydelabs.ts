import { fraction } from '../parameter-fields.ts';
import { apiKey, partnerParameters } from '../partner-fields.ts';

export const sydelabsChecks = {
  'sydelabs.sydeguard': {
    parameters: partnerParameters({
      credentials: apiKey,
      prompt_injection_threshold: fraction,
      toxicity_threshold: fraction,
      evasion_threshold: fraction,
    }),
  },
};
