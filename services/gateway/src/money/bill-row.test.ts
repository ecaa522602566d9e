import { type ChatUsage, noUsage } from '@sluice/contracts';
import { findProvider, type ProviderEntry } from '@sluice/providers';
import { expect, it } from 'vitest';
import { billRow } from './bill-row.ts';
import { UseEstimates } from './estimate-use.ts';
import { ObservedModels } from './observed-models.ts';

const target = {
  entry: findProvider('cohere') as ProviderEntry,
  servedModel: 'embed-english-v3.0',
  customHost: undefined,
};
const estimates = new UseEstimates(new ObservedModels());
const bill = (row: Parameters<typeof billRow>[0]) => billRow(row, target, estimates);
const told = (over: Partial<ChatUsage>) => ({ ...noUsage, ...over });

it('bills a line of a batch by what its provider counted, if that is nothing', () => {
  for (const usage of [told({ inputTokens: 21, outputTokens: 4 }), noUsage])
    expect(bill({ facts: { usage }, asked: { text: 'The sky is blue.' } })).toEqual({
      facts: { usage },
      isEstimated: false,
      isImplausible: false,
    });
});

it('estimates what nobody counted by the question that the row repeats and the answer that it has', () => {
  const words = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
  const { facts, ...flags } = bill({ facts: { id: 'e-1', saidBytes: 41 }, asked: { text: words } });
  expect(flags).toEqual({ isEstimated: true, isImplausible: false });
  expect(facts).toMatchObject({ id: 'e-1', usage: { outputTokens: 11 } });
  // 201 by a tokenizer.
  expect(facts.usage?.inputTokens).toBeGreaterThan(170);
  expect(facts.usage?.inputTokens).toBeLessThan(260);
  // Words of a vendor's own that are none of ours, by their bytes.
  expect(bill({ facts: {}, asked: { inputLine: 'blue'.repeat(10) } }).facts.usage).toEqual(
    told({ inputTokens: 14 }),
  );
  expect(bill({ facts: { saidBytes: 8 } }).facts.usage).toEqual(told({ outputTokens: 2 }));
});

it.each([
  told({ inputTokens: -5 }),
  told({ inputTokens: 2.5 }),
  told({ inputTokens: 10 ** 12 }),
  told({ outputTokens: 10, reasoningTokens: 11 }),
])('takes no count that cannot be true: %j', (usage) => {
  expect(bill({ facts: { usage, saidBytes: 8 } })).toEqual({
    facts: { saidBytes: 8, usage: told({ outputTokens: 2 }) },
    isEstimated: true,
    isImplausible: true,
  });
});

it.each([
  { units: { webSearches: 1e9 } },
  { units: { images: -1 } },
  { chargedTokens: { inputTokens: 1e15, outputTokens: 0 } },
])('nor what else is charged: %j', (facts) => {
  const usage = told({ inputTokens: 21, outputTokens: 4 });
  const billed = bill({ facts: { usage, ...facts } });
  expect(billed).toMatchObject({ isEstimated: true, isImplausible: true });
  expect(billed.facts.units).toBeUndefined();
  expect(billed.facts.chargedTokens).toBeUndefined();
});
