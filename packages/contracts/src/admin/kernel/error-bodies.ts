import { z } from 'zod';

const usual = {
  success: z.literal(false),
  data: z.object({
    message: z.string(),
    errorCode: z.enum(['AB01', 'AB02', 'AB03', 'AB04', 'AB05', 'AB06', 'AB07', 'AB08', 'AB09']),
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
} satisfies Record<string, z.ZodType>;

export type ErrorForm = keyof typeof errorBodies;
