import { z } from 'zod';

const errorCodes = z.enum(['AB01', 'AB02', 'AB03', 'AB04', 'AB05', 'AB06', 'AB07', 'AB08', 'AB09']);

const usual = {
  success: z.literal(false),
  data: z.object({
    message: z.string(),
    errorCode: errorCodes,
    /** Ours: which error it is, exactly. */
    code: z.string(),
    field: z.string().optional(),
    errors: z.array(z.string()).optional(),
    request_id: z.string(),
  }),
};

/**
 * What an error looks like, by family.
 *
 * `usual`        `success` and `data`, nearly everywhere
 * `with-error`   beside them an OpenAI-style `error`: either kind of client finds its own
 * `virtual-key`  the usual, but a 401 has one fixed message
 * `text`         `error` is the sentence itself
 * `gateway`      as all that the gateway answers itself: `status` and `message`, and OpenAI's `error`
 */
export const errorBodies = {
  usual: z.object(usual),
  'with-error': z.object({
    ...usual,
    error: z.object({
      type: z.string(),
      message: z.string(),
      param: z.string().nullable(),
      code: z.string(),
    }),
  }),
  'virtual-key': z.object(usual),
  text: z.object({ error: z.string() }),
  gateway: z.object({
    status: z.literal('failure'),
    message: z.string(),
    error: z.object({
      message: z.string(),
      type: z.string(),
      param: z.string().nullable(),
      code: z.string(),
      field: z.string().optional(),
    }),
    errors: z.array(z.string()).optional(),
    request_id: z.string(),
    /** Both with a 401 or 403 only, as the admin API writes them. */
    success: z.literal(false).optional(),
    data: z.object({ message: z.string(), errorCode: errorCodes }).optional(),
  }),
} satisfies Record<string, z.ZodType>;

export type ErrorForm = keyof typeof errorBodies;

/** How an operation writes its errors; one that the gateway answers by itself has no `access` for the control plane to check. */
export function errorFormOf(endpoint: {
  plane?: string;
  access?: object;
  errorForm?: ErrorForm;
}): ErrorForm {
  const isOfGateway = endpoint.plane === 'data' && endpoint.access === undefined;
  return endpoint.errorForm ?? (isOfGateway ? 'gateway' : 'usual');
}
