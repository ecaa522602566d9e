import type { JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf } from '../json/json-access.ts';

/**
 * Chat replies of callers that are not strict say each text twice, as `content`
 * and in `content_blocks`. What took the place of the one takes that of the
 * other: all of it in the first block of text, since nobody knows which part of
 * it was which block, nor which quotation still holds.
 */
export function blocksInStep(before: JsonObject, after: JsonObject): JsonObject {
  const [old, choices] = [arrayOf(before.choices), arrayOf(after.choices)];
  if (old === undefined || choices === undefined) return after;
  return {
    ...after,
    choices: choices.map((value, at) => {
      const choice = objectOf(value);
      const message = objectOf(choice?.message);
      const blocks = arrayOf(message?.content_blocks);
      if (choice === undefined || message === undefined || blocks === undefined) return value;
      const { content } = objectOf(objectOf(old[at])?.message) ?? {};
      if (content === message.content) return value;
      const content_blocks = withText(blocks, message.content);
      return { ...choice, message: { ...message, content_blocks } };
    }),
  };
}

function withText(blocks: readonly JsonValue[], content: JsonValue | undefined): JsonValue[] {
  let text = typeof content === 'string' ? content : undefined;
  return blocks.flatMap((block) => {
    if (objectOf(block)?.type !== 'text') return block;
    if (text === undefined) return [];
    const told = { type: 'text', text };
    text = undefined;
    return told;
  });
}
