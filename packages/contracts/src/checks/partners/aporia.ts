import { text } from '../parameter-fields.ts';
import { baseAddress, credentials, partnerParameters, secret } from '../partner-fields.ts';

export const aporiaChecks = {
  'aporia.validateProject': {
    parameters: partnerParameters({
      credentials: credentials({ apiKey: secret, apiEndpoint: baseAddress.optional() }),
      projectID: text,
    }),
  },
};
