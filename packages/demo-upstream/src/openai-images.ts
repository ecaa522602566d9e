// Wire format: https://platform.openai.com/docs/api-reference/images
import { createdAt, missing, optionalNumber } from './openai-vendor.ts';
import type { DemoAnswer, DemoBody } from './protocol.ts';

/** One grey pixel. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';
const imagesMax = 10;

/** Generations and edits: what was drawn is the same pixel each time. */
export function createImages(body: DemoBody): DemoAnswer {
  if (typeof body.prompt !== 'string' || body.prompt === '') throw missing('prompt');
  const asked = body.n === undefined ? undefined : Number(body.n);
  const count = optionalNumber(asked, 'n', 1, imagesMax) ?? 1;
  return {
    kind: 'json',
    body: {
      created: createdAt,
      data: Array.from({ length: count }, () => ({ b64_json: png })),
    },
  };
}
