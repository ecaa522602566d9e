import { findProvider, type ProviderEntry, readModelOverrides } from '@sluice/providers';
import { expect, it } from 'vitest';
import { exampleExchange } from '../../test/exchange.ts';
import { modelKeyOf, type NamedTarget, UseEstimates } from './estimate-use.ts';
import { ObservedModels } from './observed-models.ts';

const { subject } = exampleExchange();
const json = { messages: [{ role: 'user', content: 'What is locking? '.repeat(40) }] };
const openai: NamedTarget = {
  entry: findProvider('openai') as ProviderEntry,
  servedModel: 'house-7b',
  customHost: undefined,
};
const elsewhere: NamedTarget = {
  ...openai,
  customHost: { url: 'https://models.example/v1', field: 'custom_host', by: 'admin' },
};

it('learns of each host alone what its models count, and how long their answers are', () => {
  const observed = new ObservedModels();
  const estimates = new UseEstimates(observed);
  const asked = { ...subject, json, body: Buffer.from(JSON.stringify(json)) };
  const before = estimates.of(asked, openai);
  for (let count = 0; count < 64; count++) observed.learn(modelKeyOf(elsewhere), 100, 150, 30);
  expect(estimates.of(asked, openai)).toEqual(before);
  const after = estimates.of(asked, elsewhere);
  expect(after.inputTokens).toBeCloseTo(before.inputTokens * 1.5, -1);
  expect(after.outputTokens).toBe(before.outputTokens);
  expect(after.observedOutputTokens).toBe(30);
});

it('goes by what the operator knows better of a model', () => {
  const known = 'claude-opus-4-7';
  const models = [{ match: 'house-7b', like: known }];
  const overrides = readModelOverrides(JSON.stringify({ models }));
  const estimates = new UseEstimates(new ObservedModels(), overrides);
  const asked = { ...subject, json };
  const { outputTokens } = estimates.of(asked, { ...openai, servedModel: known });
  expect(outputTokens).toBeGreaterThan(8192);
  expect(estimates.of(asked, openai).outputTokens).toBe(outputTokens);
});

it('counts what a config puts in, also by a name that every object has', () => {
  const estimates = new UseEstimates(new ObservedModels());
  const asked = { ...subject, json, body: Buffer.from(JSON.stringify(json)) };
  const [named, any] = ['constructor', 'construction'].map((name) =>
    estimates.of(asked, openai, { ...json, [name]: { prototype: 'x'.repeat(4_000) } }),
  );
  expect(named).toEqual(any);
});
