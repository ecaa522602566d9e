import { expect, it } from 'vitest';
import { spelledHere, whichThereAre } from './provider-hints.ts';

it('names what there is, the likeliest first, and not all of very many', () => {
  expect(whichThereAre('demp', ['main', 'open-ai', 'demo'])).toBe(
    'It has "@demo", "@main", "@open-ai".',
  );
  const many = Array.from({ length: 3000 }, (_, at) => `p-${at}`);
  expect(whichThereAre('p-7', many)).toMatch(/^It has "@p-7",( "@p-\d+",?){4} and 2995 more\.$/);
  expect(whichThereAre('x'.repeat(100_000), ['y'.repeat(100)])).toContain('"@yyy');
  expect(whichThereAre('demo', [])).toBe('It has none.');
});

it('knows the spelling of other gateways where the workspace has the provider', () => {
  const has = (slug: string) => slug === 'demo';
  expect(spelledHere('demo/gpt-4o', has)).toBe('@demo/gpt-4o');
  expect(spelledHere('demo/org/model', has)).toBe('@demo/org/model');
  for (const model of ['meta-llama/Llama-3', 'gpt-4o', '/demo', 'demo', 7, undefined])
    expect(spelledHere(model, has)).toBeUndefined();
});
