import type { z } from 'zod';

/** One kind of check: what it can be told. What it does with that stands in `packages/guardrails`. */
export interface CheckDeclaration {
  /** Further ids by which it may be named. */
  readonly aliases?: readonly string[];
  /** One called `timeout` (ms) is how long the check may take. */
  readonly parameters: z.ZodType<object>;
  /** What it looks at; absent = texts. */
  readonly judges?: Judges;
  /** A partner that asks for no credentials. */
  readonly isOpen?: boolean;
}

/**
 * What a check looks at decides where it can run: `texts` and `parameters` (the
 * model, tools) need a body that can be read, `call` (metadata, headers) and
 * `type` (which operation it is) need none.
 */
export type Judges = 'texts' | 'parameters' | 'call' | 'type';
