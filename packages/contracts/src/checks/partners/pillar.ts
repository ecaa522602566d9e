import { someOf } from '../parameter-fields.ts';
import { apiKey, partnerParameters } from '../partner-fields.ts';

const scanning = {
  parameters: partnerParameters({
    credentials: apiKey,
    scanners: someOf([
      'prompt_injection',
      'pii',
      'secrets',
      'toxic_language',
      'invisible_characters',
    ]).min(1),
  }),
};

export const pillarChecks = { 'pillar.scanPrompt': scanning, 'pillar.scanResponse': scanning };
