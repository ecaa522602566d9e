import { z } from 'zod';
import { headersField, hostField } from '../../fields/fields.ts';
import { openObject } from '../../fields/kept-only.ts';
import type { CheckDeclaration } from '../declaration.ts';
import {
  anyText,
  flag,
  forwardHeaders,
  not,
  optionalTexts,
  parameters,
  subjects,
  text,
  timeoutMs,
} from '../parameter-fields.ts';

/** As an object, or as the JSON text of one. */
const headers = z.union([headersField, anyText]).optional();

const claimValues = z.record(
  z.string().min(1).max(256),
  openObject({
    values: z.union([text, z.array(text).min(1).max(100)]),
    matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
  }),
);

/** Checks that ask a host which their parameters or the text name. */
export const askingChecks = {
  'default.webhook': {
    parameters: parameters({
      webhookURL: hostField,
      headers,
      timeout: timeoutMs(3000),
      failOnError: flag(false),
      forwardHeaders,
      subjects,
    }),
  },
  'default.log': {
    parameters: parameters({
      logURL: hostField,
      headers,
      timeout: timeoutMs(3000),
      forwardHeaders,
      subjects,
    }),
  },
  'default.validUrls': {
    parameters: parameters({ onlyDNS: flag(false), not, timeout: timeoutMs(3000), subjects }),
  },
  'default.jwt': {
    judges: 'call',
    parameters: parameters({
      jwksUri: hostField.optional(),
      jwks: z.looseObject({ keys: z.array(z.looseObject({})).max(200) }).optional(),
      introspectEndpoint: hostField.optional(),
      headerKey: z.string().min(1).max(128).default('Authorization'),
      algorithms: z.array(z.string().min(1).max(16)).min(1).max(20).default(['RS256']),
      cacheMaxAge: z.number().min(0).max(31_536_000).default(86_400),
      clockTolerance: z.number().min(0).max(3_600).default(5),
      /** How long after its `iat` a token is taken, e.g. `12h`. */
      maxTokenAge: z
        .string()
        .regex(/^[1-9]\d{0,5}[smhdw]$/, 'must be a number and one of s, m, h, d, w')
        .default('1d'),
      introspectContentType: z
        .enum(['application/x-www-form-urlencoded', 'application/json'])
        .default('application/x-www-form-urlencoded'),
      introspectCacheMaxAge: z.number().min(0).max(3_600).default(0),
      requiredClaims: optionalTexts,
      claimValues: claimValues.optional(),
      /** Names that the token's header and its payload must both have, with one value. */
      headerPayloadMatch: optionalTexts,
      extractClaims: optionalTexts,
      claimPrefix: z.string().max(128).default('x-jwt-'),
      timeout: timeoutMs(3000),
    }).refine(
      ({ jwksUri, jwks, introspectEndpoint }) =>
        (jwksUri ?? jwks ?? introspectEndpoint) !== undefined,
      'needs jwksUri, jwks or introspectEndpoint',
    ),
  },
} satisfies Record<string, CheckDeclaration>;
