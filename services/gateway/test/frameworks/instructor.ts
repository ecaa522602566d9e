import Instructor from '@instructor-ai/instructor';
import OpenAI from 'openai';
import { z } from 'zod/v3';
import { question, type Seat } from './framework.ts';

/** It knows the schemas of the generation before. */
const report = z.object({
  city: z.string().min(1).describe('Where it is'),
  degrees: z.number().int().min(-90).max(60),
});

/** `instructor`: structured answers and nothing else, by the way that `mode` names. */
export function instructor({ url, headers, model }: Seat, mode: 'TOOLS' | 'JSON_SCHEMA') {
  const client = Instructor({
    client: new OpenAI({
      apiKey: 'sk-vendor',
      baseURL: `${url}/v1`,
      defaultHeaders: headers,
      maxRetries: 0,
    }),
    mode,
  });
  return client.chat.completions.create({
    model,
    messages: [{ role: 'user', content: question }],
    response_model: { schema: report, name: 'Report' },
    max_retries: 0,
  });
}
