import { z } from 'zod';
import { flag, text } from '../parameter-fields.ts';
import { credentials, hostName, partnerParameters, secret } from '../partner-fields.ts';

const own = { credentials: credentials({ apiKey: secret, domain: hostName }) };

export const pangeaChecks = {
  'pangea.textGuard': {
    parameters: partnerParameters({
      ...own,
      recipe: text.optional(),
      debug: flag(false),
      overrides: z.record(z.string(), z.unknown()).optional(),
    }),
  },
  'pangea.pii': { parameters: partnerParameters({ ...own, redact: flag(false) }) },
};
