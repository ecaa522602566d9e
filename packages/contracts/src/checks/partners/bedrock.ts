import { z } from 'zod';
import { flag } from '../parameter-fields.ts';
import {
  baseAddress,
  credentials,
  hostLabel,
  partnerParameters,
  secret,
} from '../partner-fields.ts';

/** An id, or the whole name of a resource of AWS. */
const guardrailId = z
  .string()
  .max(2048)
  .regex(/^[A-Za-z0-9:/._-]+$/, 'must be the id or ARN of a guardrail');

export const bedrockChecks = {
  'bedrock.guard': {
    parameters: partnerParameters({
      credentials: credentials({
        awsAccessKeyId: secret,
        awsSecretAccessKey: secret,
        awsSessionToken: secret.optional(),
        awsRegion: hostLabel,
        customHost: baseAddress.optional(),
      }),
      guardrailId,
      guardrailVersion: z.string().regex(/^(?:DRAFT|[0-9]{1,8})$/, 'must be a number or DRAFT'),
      redact: flag(false),
    }),
  },
};
