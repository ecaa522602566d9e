import { z } from 'zod';
import { openObject } from '../../fields/kept-only.ts';
import { flag, someOf, text } from '../parameter-fields.ts';
import { baseAddress, hostLabel, partnerParameters, secret } from '../partner-fields.ts';

const asPublished = z
  .unknown()
  .meta({ description: 'All of this, as published samples have it.' })
  .optional();

const resource = openObject({
  resourceName: hostLabel.optional(),
  customHost: baseAddress.optional(),
  apiKey: secret.optional(),
  azureAuthMode: z.enum(['apiKey', 'entra']).default('apiKey'),
  tenantId: hostLabel.optional(),
  clientId: secret.optional(),
  clientSecret: secret.optional(),
  contentSafety: asPublished,
  pii: asPublished,
})
  .refine(
    ({ resourceName, customHost }) => (resourceName ?? customHost) !== undefined,
    'needs resourceName or customHost',
  )
  .refine(
    (given) => given.azureAuthMode === 'entra' || given.apiKey !== undefined,
    'needs apiKey, or azureAuthMode entra',
  )
  .refine(
    ({ azureAuthMode, tenantId, clientId, clientSecret }) =>
      azureAuthMode !== 'entra' || ![tenantId, clientId, clientSecret].includes(undefined),
    'needs tenantId, clientId and clientSecret',
  );

/** Published samples have them below the name of the service. */
const resourceOf = (service: 'contentSafety' | 'pii') =>
  z.preprocess(
    (given) =>
      typeof given === 'object' && given !== null && service in given
        ? (given as Record<string, unknown>)[service]
        : given,
    resource.optional(),
  );

const apiVersion = (absent: string) =>
  z
    .string()
    .regex(/^[0-9a-z-]{1,64}$/)
    .default(absent);

const safety = resourceOf('contentSafety');

export const azureChecks = {
  'azure.contentSafety': {
    parameters: partnerParameters({
      credentials: safety,
      blocklistNames: z.array(text).max(100).default([]),
      apiVersion: apiVersion('2024-09-01'),
      severity: z.number().min(0).max(7).default(2),
      categories: someOf(['Hate', 'SelfHarm', 'Sexual', 'Violence']).optional(),
    }),
  },
  'azure.pii': {
    parameters: partnerParameters({
      credentials: resourceOf('pii'),
      domain: z.enum(['none', 'phi']).default('none'),
      apiVersion: apiVersion('2024-11-01'),
      modelVersion: z.string().min(1).max(64).default('latest'),
      /** Of the text; undefined = English. */
      language: z.string().min(1).max(35).optional(),
      piiCategories: z.array(text).max(200).optional(),
      redact: flag(false),
    }),
  },
  'azure.shieldPrompt': {
    parameters: partnerParameters({ credentials: safety, apiVersion: apiVersion('2024-09-01') }),
  },
  'azure.protectedMaterial': {
    parameters: partnerParameters({ credentials: safety, apiVersion: apiVersion('2024-09-01') }),
  },
};
