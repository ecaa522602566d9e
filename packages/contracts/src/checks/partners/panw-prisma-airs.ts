import { text } from '../parameter-fields.ts';
import { baseAddress, credentials, partnerParameters, secret } from '../partner-fields.ts';

export const panwPrismaAirsChecks = {
  'panw-prisma-airs.intercept': {
    parameters: partnerParameters({
      credentials: credentials({ AIRS_API_KEY: secret, apiEndpoint: baseAddress.optional() }),
      profile_name: text.optional(),
      profile_id: text.optional(),
      ai_model: text.optional(),
      app_user: text.optional(),
      app_name: text.optional(),
    }),
  },
};
