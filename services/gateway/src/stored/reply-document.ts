import type { BodyReply } from '../exchange/reply.ts';
import { documentOf } from '../owners/ids-in-reply.ts';

/** Undefined = it is none. */
export function documentIn({ body }: BodyReply): Record<string, unknown> | undefined {
  return documentOf(body);
}
