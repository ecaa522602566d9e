import { z } from 'zod';

/** Where a client is pointed at: the gateway, and what it says of the provider behind it. */
export interface Seat {
  /** Without `/v1`. */
  url: string;
  headers: Record<string, string>;
  model: string;
}

/** What people do with a client, each way to its end. */
export interface Framework {
  /** One answer, its temperature set. */
  plain(): Promise<string>;
  stream(): Promise<string>;
  /** An answer by a JSON schema. */
  bySchema(): Promise<unknown>;
  /** The same by the demanded call of a tool. */
  byTool(): Promise<unknown>;
  /** Tools over several turns, streamed where the client streams them; `look` is the tool. */
  loop(look: (city: string) => string): Promise<string>;
}

export const question = 'What is the weather in Paris and in Rome?';

/** With rules that only some vendors take in a schema. */
export const report = z.object({
  city: z.string().min(1).describe('Where it is'),
  degrees: z.number().int().min(-90).max(60),
});

export const reportSchema = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'Where it is' },
    degrees: { type: 'integer' },
  },
  required: ['city', 'degrees'],
  additionalProperties: false,
};

export const place = z.object({ city: z.string() });

export const placeSchema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

export const weather = { name: 'get_weather', description: 'Looks outside' };
