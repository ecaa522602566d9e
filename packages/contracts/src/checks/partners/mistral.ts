import { someOf, text } from '../parameter-fields.ts';
import { apiKey, partnerParameters } from '../partner-fields.ts';

export const mistralChecks = {
  'mistral.moderateContent': {
    parameters: partnerParameters({
      credentials: apiKey,
      model: text.default('mistral-moderation-latest'),
      categories: someOf([
        'sexual',
        'hate_and_discrimination',
        'violence_and_threats',
        'dangerous_and_criminal_content',
        'dangerous',
        'criminal',
        'selfharm',
        'health',
        'financial',
        'law',
        'pii',
        'jailbreaking',
      ]).min(1),
    }),
  },
};
