import type { Refusal } from '@sluice/testkit';

/** What the model says: a text, or the call of a tool. */
export type Said = { text: string } | Call;

export interface Call {
  name: string;
  args: object;
}

/** What it was asked, in any format. */
export interface Question {
  model: string;
  tools: string[];
  /** A call is demanded. */
  isForced: boolean;
  hasSchema: boolean;
  /** Of tools, in the whole conversation. */
  results: number;
  isStreamed: boolean;
}

export interface Body {
  model?: string;
  stream?: boolean;
  [field: string]: unknown;
}

/** One vendor: what it refuses, and how it is asked and answers. */
export interface Vendor {
  path: RegExp;
  /** Of streams. */
  headers?: Record<string, string>;
  /** Of what it refuses. */
  refusalHeaders?: Record<string, string>;
  refuse(body: Body, path: string): Refusal | undefined;
  read(body: Body, path: string): Question;
  reply(said: Said, question: Question, body: Body): object;
  stream(said: Said, question: Question, body: Body): unknown[];
}

export const spoken = 'It is sunny in Paris and in Rome.';
export const structured = { city: 'Paris', degrees: 21 };
const cities = ['Paris', 'Rome'];
const weather = 'get_weather';

/** The weather of two cities, one after the other; JSON for a schema, or for any other tool. */
export function sayTo({ tools, isForced, hasSchema, results }: Question): Said {
  const asks = tools.includes(weather);
  if (asks && results < cities.length) return { name: weather, args: { city: cities[results] } };
  const [other] = tools.filter((name) => name !== weather);
  if (other !== undefined && (isForced || !asks) && results === 0)
    return { name: other, args: structured };
  return { text: hasSchema ? JSON.stringify(structured) : spoken };
}

export function list<T>(value: unknown): T[] {
  return Array.isArray(value) ? value : [];
}

export const pieces = (text: string): string[] => text.match(/.{1,9}/g) ?? [];
export const callId = (results: number): string => `call_${results}`;

export interface Named {
  name?: string;
  function?: { name: string };
}
