import { type EndpointOperation, type JsonObject, noUsage, operations } from '@sluice/contracts';
import { Multipliers, PriceBook, type PriceQuery, readCustomPrices } from '@sluice/pricing';
import { findProvider, type ProviderEntry } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { exampleExchange } from '../../test/exchange.ts';
import type { SavedProvider } from '../compiled/compiled-bundle.ts';
import type { Target } from '../exchange/target.ts';
import { avoidedCost } from './avoided-cost.ts';
import { UseEstimates } from './estimate-use.ts';
import { ObservedModels } from './observed-models.ts';
import { PriceList, type Serving } from './price-list.ts';

const atMs = Date.UTC(2026, 10, 22);
const tokens = { ...noUsage, inputTokens: 1000, outputTokens: 100 };
const counted = { tokens, units: undefined };

class CountingBook extends PriceBook {
  lookUps = 0;
  override lookUp(query: PriceQuery) {
    this.lookUps += 1;
    return super.lookUp(query);
  }
}

describe('what a kept answer saved', () => {
  const { subject } = exampleExchange();
  const avoided = avoidedCost(
    new UseEstimates(new ObservedModels()),
    new PriceList(new PriceBook()),
  );
  const claude = { ...targetOf({}), entry: findProvider('anthropic') as ProviderEntry };
  const saved = (usage: JsonObject) => {
    const answer = { type: 'message', content: [{ type: 'text', text: 'x'.repeat(400) }], usage };
    const kept = { body: Buffer.from(JSON.stringify(answer)), isStream: false };
    const json = { messages: [{ role: 'user', content: 'What is locking? '.repeat(9) }] };
    const asked = {
      ...subject,
      json,
      body: Buffer.from(JSON.stringify(json)),
      operation: operations.messages as EndpointOperation,
    };
    return avoided(asked, { ...claude, servedModel: 'claude-opus-4-6' }, kept);
  };
  const full = 1000 * 5000 + 100 * 25_000;

  it.each<[string, JsonObject, number]>([
    ['nothing else', {}, full],
    ['two searches', { server_tool_use: { web_search_requests: 2 } }, full + 20_000_000],
    ['searches that cannot be', { server_tool_use: { web_search_requests: 1e9 } }, full],
  ])('is its tokens, and %s', (_name, more, expected) => {
    expect(saved({ input_tokens: 1000, output_tokens: 100, ...more })).toBe(expected);
  });

  it('is estimated where its tokens, or those of another model, cannot be', () => {
    const odd = saved({ input_tokens: 1e12, output_tokens: 100 });
    expect(odd).toBeGreaterThan(0);
    expect(odd).toBeLessThan(full);
    const iterations = [
      { type: 'advisor_message', model: 'claude-opus-4-6', input_tokens: 1e12, output_tokens: 1 },
    ];
    expect(saved({ input_tokens: 1000, output_tokens: 100, iterations })).toBeLessThanOrEqual(full);
  });
});

describe('PriceList', () => {
  it('looks a price up once for each target, model, tier and place', () => {
    const book = new CountingBook();
    const prices = new PriceList(book);
    const target = targetOf({});
    const price = (serving: Partial<Serving>) =>
      prices.price(target, counted, { ...standard, ...serving })?.cost.totalNanoUsd;
    const full = 1000 * 1250 + 100 * 10_000;
    for (let round = 0; round < 3; round += 1) {
      expect(price({})).toBe(full);
      expect(price({ tier: 'standard' })).toBe(full);
      expect(price({ tier: 'flex' })).toBe(full / 2);
      expect(price({ region: 'eu' })).toBe(full);
      expect(price({ model: 'nobody-knows' })).toBeUndefined();
    }
    expect(book.lookUps).toBe(4);
    prices.forget();
    expect(price({})).toBe(full);
    expect(book.lookUps).toBe(5);
  });

  it('has for what was made before the prices of then, whichever was asked for first', () => {
    const prices = new PriceList(new PriceBook());
    const entry = findProvider('anthropic') as ProviderEntry;
    const target = { ...targetOf({}), entry, servedModel: 'claude-sonnet-5-5' };
    const cached = {
      tokens: { ...noUsage, inputTokens: 1000, cacheReadTokens: 1000 },
      units: undefined,
    };
    const costOn = (atMs: number) =>
      prices.price(target, cached, { model: target.servedModel, tier: '', region: '', atMs })?.cost
        .totalNanoUsd;
    const [before, since] = [Date.UTC(2026, 9, 6), Date.UTC(2026, 9, 8)];
    // Reading the cache costs half since 7 October.
    for (const [atMs, cost] of [
      [since, 100_000],
      [before, 200_000],
      [Date.now(), 100_000],
      [before, 200_000],
    ] as const)
      expect(costOn(atMs)).toBe(cost);
  });

  it('charges what administrators set, multiplied by what they multiply with, and tells by how much', () => {
    const prices = new PriceList(new PriceBook());
    const custom = readCustomPrices(
      { pay_as_you_go: { request_token: { price: 0.0001 } } },
      'custom@1',
    );
    const target = targetOf({
      prices: new Map([['gpt-5.1', custom]]),
      multipliers: new Multipliers({ default: 3, request_token: 2 }),
    });
    const priced = prices.price(target, counted, standard);
    expect(priced).toMatchObject({ layer: 'custom', version: 'custom@1', region: '' });
    expect(priced?.cost.totalNanoUsd).toBe(2 * 1_000_000 + 3 * 1_000_000);
    expect(priced?.multiplier).toBe(2.5);
    expect(prices.price(targetOf({}), counted, standard)?.multiplier).toBe(0);
    // What is free by it is told from what is not multiplied, or would be charged in full when it is priced anew.
    const free = prices.price(
      targetOf({ multipliers: new Multipliers({ default: 0 }) }),
      counted,
      standard,
    );
    expect(free?.cost.totalNanoUsd).toBe(0);
    expect(free?.multiplier).toBeGreaterThan(0);
    expect(Math.round((free?.multiplier ?? 1) * Number.MAX_SAFE_INTEGER)).toBe(0);
  });

  it('takes the price of the model that another was made of, where it has none of its own', () => {
    const models = new Map([['ft:mine', { slug: 'ft:mine', baseModelSlug: 'gpt-5.1' }]]);
    const target = targetOf({ models: models as never }, 'ft:mine');
    const prices = new PriceList(new PriceBook());
    const of = (model: string) => prices.price(target, counted, { ...standard, model });
    expect(of('ft:mine')?.cost.totalNanoUsd).toBe(1000 * 1250 + 100 * 10_000);
    expect(of('something-else')).toBeUndefined();
  });
});

const standard: Serving = { model: 'gpt-5.1', tier: '', region: '', atMs };

function targetOf(saved: Partial<SavedProvider>, servedModel = 'gpt-5.1'): Target {
  return {
    entry: { id: 'openai' },
    saved: { prices: new Map(), models: new Map(), multipliers: undefined, ...saved },
    servedModel,
  } as unknown as Target;
}
