// Wire format: https://platform.openai.com/docs/api-reference/moderations
import { missing } from './openai-vendor.ts';
import { type DemoAnswer, type DemoBody, isObject } from './protocol.ts';

/** Words that stand for the categories; the demo knows no others. */
const categories: Readonly<Record<string, RegExp>> = {
  harassment: /\b(?:idiot|stupid)\b/i,
  violence: /\b(?:attack|kill)\b/i,
};

export function createModeration(body: DemoBody): DemoAnswer {
  const { input } = body;
  if (input === undefined) throw missing('input');
  const inputs = (Array.isArray(input) ? input : [input]).map(textOf);
  return {
    kind: 'json',
    body: {
      id: `modr-demo-${inputs.join('').length}`,
      model: body.model,
      results: inputs.map((text) => {
        const hits = Object.entries(categories).map(([name, words]) => [name, words.test(text)]);
        return {
          flagged: hits.some(([, isHit]) => isHit),
          categories: Object.fromEntries(hits),
          category_scores: Object.fromEntries(hits.map(([name, hit]) => [name, hit ? 0.98 : 0.01])),
        };
      }),
    },
  };
}

function textOf(input: unknown): string {
  return isObject(input) ? String(input.text ?? '') : String(input);
}
