import { z } from 'zod';
import { flag, not, parameters, timeoutMs } from '../../checks/parameter-fields.ts';
import { headersField, hostField } from '../kernel/fields.ts';

/** As an object, or as the JSON text of one. */
const headers = z.union([headersField, z.string().max(65_536)]).optional();

/** Built-in checks that can be saved, and that no gateway runs yet. */
export const awaitedChecks = {
  'default.jsonSchema': parameters({ schema: z.record(z.string(), z.unknown()), not }),
  'default.validUrls': parameters({ onlyDNS: flag(false), not }),
  'default.webhook': parameters({
    webhookURL: hostField,
    headers,
    timeout: timeoutMs(3000),
    failOnError: flag(false),
  }),
  'default.log': parameters({ logURL: hostField, headers, timeout: timeoutMs(3000) }),
  'default.jwt': parameters({
    jwksUri: hostField.optional(),
    jwks: z.record(z.string(), z.unknown()).optional(),
    introspectEndpoint: hostField.optional(),
    headerKey: z.string().min(1).max(128).default('Authorization'),
    cacheMaxAge: z.number().min(0).default(86_400),
    clockTolerance: z.number().min(0).default(5),
    maxTokenAge: z.string().min(1).max(32).default('1d'),
    algorithms: z.array(z.string().min(1).max(16)).max(20).default(['RS256']),
  }).refine(
    ({ jwksUri, jwks, introspectEndpoint }) =>
      (jwksUri ?? jwks ?? introspectEndpoint) !== undefined,
    'needs jwksUri, jwks or introspectEndpoint',
  ),
};
