import { flag } from '../parameter-fields.ts';
import { baseAddress, credentials, partnerParameters, secret } from '../partner-fields.ts';

export const lassoChecks = {
  'lasso.classify': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, apiEndpoint: baseAddress.optional() }),
      conversationId: secret.optional(),
      userId: secret.optional(),
      redact: flag(false),
    }),
  },
};
