import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FilePrices, PriceBook } from '@sluice/pricing';
import { signFolder } from '@sluice/signed-files';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyPriceFiles } from './apply-price-files.ts';
import { priceFilesPart } from './price-files-part.ts';
import { effectiveAtOf, readPriceFiles } from './read-price-files.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'price-files-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const file = (cents: number, model = 'mine') =>
  JSON.stringify({
    [model]: { pricing_config: { pay_as_you_go: { request_token: { price: cents } } } },
  });
const write = (path: string, text: string) => {
  mkdirSync(join(dir, path, '..'), { recursive: true });
  writeFileSync(join(dir, path), text);
};
const inputOf = (prices: FilePrices | undefined, atMs = Date.UTC(2026, 0, 1)) =>
  new PriceBook(prices).lookUp({ provider: 'ours', model: 'mine', atMs })?.tiers[0]?.input;

describe('readPriceFiles', () => {
  it('reads files in force from ever, and versions in force from their day', async () => {
    write('ours.json', file(0.0001));
    write('2026-12-01/ours.json', file(0.0002));
    write('2026-12-01T06-30Z/ours.json', file(0.0003));
    write('notes/ours.json', file(0.0009));
    write('.ours.json', '{');
    const { prices, models, warnings } = await readPriceFiles(dir);
    expect([models, warnings]).toEqual([3, []]);
    expect(inputOf(prices)).toBe(1000);
    expect(inputOf(prices, Date.UTC(2026, 11, 1))).toBe(2000);
    expect(inputOf(prices, Date.UTC(2026, 11, 1, 6, 30) - 1)).toBe(2000);
    expect(inputOf(prices, Date.UTC(2026, 11, 1, 6, 30))).toBe(3000);
  });

  it('warns of a price that is more than five times the catalogue’s, or less than a fifth', async () => {
    write('openai.json', file(0.00125, 'gpt-4o'));
    expect((await readPriceFiles(dir)).warnings).toEqual([]);
    write('openai.json', file(0.00126, 'gpt-4o'));
    expect((await readPriceFiles(dir)).warnings).toEqual([
      'openai.json: $.gpt-4o.pricing_config.pay_as_you_go.request_token.price: is 5 times the catalogue’s',
    ]);
    write('openai.json', file(0.0000025, 'gpt-4o'));
    expect((await readPriceFiles(dir)).warnings).toEqual([
      'openai.json: $.gpt-4o.pricing_config.pay_as_you_go.request_token.price: is 0.01 times the catalogue’s',
    ]);
  });

  it('warns of a file that is named after no provider', async () => {
    write('opneai.json', file(0.0001));
    write('2026-12-01/ours.json', file(0.0001));
    const of = async (providers?: string[]) => (await readPriceFiles(dir, { providers })).warnings;
    expect(await of(['openai', 'ours'])).toEqual([
      'opneai.json: is named after no provider, so nothing has its prices',
    ]);
    expect(await of()).toEqual([]);
  });

  it('warns of words that nobody reads: what is written there is charged to nobody', async () => {
    const price = { price: 1 };
    const paid = { request_token: price, response_tokens: price, additional_units: { own: price } };
    const config = { pay_as_you_go: paid, batch_config: { request_tokn: price }, currency: 'USD' };
    write('ours.json', JSON.stringify({ a: { pricing_config: config }, b: { '2026-11-01': {} } }));
    const at = 'ours.json: $.a.pricing_config';
    expect((await readPriceFiles(dir)).warnings).toEqual([
      `${at}.pay_as_you_go.response_tokens: is no word of price files`,
      `${at}.batch_config.request_tokn: is no word of price files`,
      'ours.json: $.b.2026-11-01: is no word of price files',
    ]);
  });

  it('warns of them wherever prices stand, and of folders that are never in force', async () => {
    const tier = { pricing_config: { pay_as_you_go: { request_token: { prise: 1 } } } };
    const mode = { pricing_configs: {}, context_tiers: { long: tier } };
    const custom = {
      context_tier_map: { 5: 'long' },
      regions: { eu: { execution_modes: { flex: mode }, modes: {} } },
      tiers: {},
    };
    write('ours.json', JSON.stringify({ a: { custom_pricing: custom } }));
    write('2026-02-30/ours.json', file(1));
    write('2026-12-1/ours.json', '{');
    const at = 'ours.json: $.a.custom_pricing';
    const inEu = `${at}.regions.eu`;
    const price = 'context_tiers.long.pricing_config.pay_as_you_go.request_token.prise';
    const { warnings } = await readPriceFiles(dir);
    expect(warnings.toSorted()).toEqual([
      '2026-02-30: is no day or instant, so its files are never in force',
      '2026-12-1: is no day or instant, so its files are never in force',
      `${inEu}.execution_modes.flex.${price}: is no word of price files`,
      `${inEu}.execution_modes.flex.pricing_configs: is no word of price files`,
      `${inEu}.modes: is no word of price files`,
      `${at}.tiers: is no word of price files`,
    ]);
  });

  it('takes no two versions of one instant', async () => {
    write('2026-12-01/ours.json', file(1));
    write('2026-12-01T00-00Z/other.json', file(1));
    expect((await readPriceFiles(dir)).models).toBe(2);
    write('2026-12-01T00-00Z/ours.json', file(2));
    await expect(readPriceFiles(dir)).rejects.toThrow(
      '2026-12-01T00-00Z/ours.json: is in force from the same instant',
    );
  });

  it.each([
    ['ours.json: is not JSON', '{'],
    ['ours.json: $.m.pricing_config: must be an object', '{"m":{"pricing_config":7}}'],
    ['ours.json: $: must be an object', '[]'],
    [
      'ours.json: $.m.pricing_config: is there twice',
      '{"m":{"pricing_config":{},"pricing_config":{}}}',
    ],
    ['ours.json: has more than', `"${'x'.repeat(9 * 1024 * 1024)}"`],
  ])('tells where the fault is: %s', async (message, text) => {
    write('ours.json', text);
    await expect(readPriceFiles(dir)).rejects.toThrow(message);
  });
});

describe('effectiveAtOf', () => {
  it('knows days and instants in UTC, and nothing else', () => {
    expect(effectiveAtOf('2026-12-01')).toBe(Date.UTC(2026, 11, 1));
    expect(effectiveAtOf('2026-12-01T12-05Z')).toBe(Date.UTC(2026, 11, 1, 12, 5));
    expect(effectiveAtOf('2026-12-01T12:05:09Z')).toBe(Date.UTC(2026, 11, 1, 12, 5, 9));
    for (const name of ['2026-13-01', '2026-12-01T12', 'openai', '2026', ''])
      expect(effectiveAtOf(name)).toBeUndefined();
  });
});

describe('priceFilesPart', () => {
  it('reads changed files again, and keeps those in force that were right', async () => {
    write('ours.json', file(0.0001));
    let prices: FilePrices | undefined;
    const faults: object[] = [];
    const logger = { info() {}, warn() {}, error: (fields: object) => faults.push(fields) };
    const use = (read: FilePrices) => {
      prices = read;
    };
    const part = priceFilesPart({ providers: ['ours'], dir, use, logger, intervalMs: 5 });
    await part.start();
    const failing = () => part.gauges()[0]?.read();
    try {
      expect(inputOf(prices)).toBe(1000);
      write('ours.json', file(-1));
      await expect.poll(failing).toBe(1);
      expect(inputOf(prices)).toBe(1000);
      expect(faults).toEqual([
        { reason: expect.stringContaining('ours.json: $.mine.pricing_config.pay_as_you_go') },
      ]);
      write('ours.json', file(0.0002));
      await expect.poll(() => inputOf(prices)).toBe(2000);
      expect(failing()).toBe(0);
    } finally {
      part.stop();
    }
  });

  it('with a key takes signed files alone, and those before stay in force', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    write('ours.json', file(0.0001));
    let prices: FilePrices | undefined;
    const reasons: unknown[] = [];
    const logger = {
      info() {},
      warn() {},
      error: ({ reason }: { reason?: unknown }) => reasons.push(reason),
    };
    const use = (read: FilePrices) => {
      prices = read;
    };
    const part = priceFilesPart({
      providers: ['ours'],
      dir,
      keys: [publicKey],
      use,
      logger,
      intervalMs: 5,
    });
    await expect(part.start()).rejects.toThrow(/PRICE_FILES_DIR .+: SHA256SUMS: is missing/);
    await signFolder(dir, privateKey);
    await part.start();
    const failing = () => part.gauges()[0]?.read();
    try {
      expect(inputOf(prices)).toBe(1000);
      write('ours.json', file(0.0002));
      await expect.poll(failing).toBe(1);
      expect(inputOf(prices)).toBe(1000);
      expect(reasons).toEqual(['ours.json: is not what was signed']);
      await signFolder(dir, privateKey);
      await expect.poll(() => inputOf(prices)).toBe(2000);
      write('others.json', file(0.0003));
      await expect.poll(failing).toBe(1);
      expect(reasons.at(-1)).toBe('others.json: is not signed');
    } finally {
      part.stop();
    }
  });

  it('does not start with files that are not right', async () => {
    write('ours.json', '{');
    const logger = { info() {}, warn() {}, error() {} };
    const part = priceFilesPart({ providers: ['ours'], dir, use() {}, logger });
    const fault = (text: string) => ({
      name: 'SettingsError',
      faults: [expect.stringContaining(text)],
    });
    await expect(part.start()).rejects.toMatchObject(
      fault(`PRICE_FILES_DIR ${dir}: ours.json: is not JSON`),
    );
    write(
      'ours.json',
      '{"m":{"pricing_config":{"pay_as_you_go":{"request_token":{"price":"1"}}}}}',
    );
    await expect(part.start()).rejects.toMatchObject(
      fault('$.m.pricing_config.pay_as_you_go.request_token.price: must be a number'),
    );
    const missing = priceFilesPart({
      providers: ['ours'],
      dir: join(dir, 'none'),
      use() {},
      logger,
    });
    await expect(missing.start()).rejects.toMatchObject(fault('ENOENT'));
  });
});

describe('applyPriceFiles', () => {
  it('adds a version that is in force from its day, once', async () => {
    const from = join(dir, 'new');
    write('ours.json', file(0.0001));
    write('new/ours.json', file(0.0004));
    expect(await applyPriceFiles({ dir, from, at: '2026-12-01' })).toEqual(['ours.json']);
    const { prices } = await readPriceFiles(dir);
    expect(inputOf(prices, Date.UTC(2026, 11, 1) - 1)).toBe(1000);
    expect(inputOf(prices, Date.UTC(2026, 11, 1))).toBe(4000);
    await expect(applyPriceFiles({ dir, from, at: '2026-12-01' })).rejects.toThrow(
      'is there already',
    );
    expect(readdirSync(dir).sort()).toEqual(['2026-12-01', 'new', 'ours.json']);
  });

  it('takes no files that are not right, and no day that is none', async () => {
    write('new/ours.json', '{}');
    const from = join(dir, 'new');
    await expect(applyPriceFiles({ dir, from, at: 'tomorrow' })).rejects.toThrow(
      'tomorrow is no day',
    );
    write('new/ours.json', file(-1));
    await expect(applyPriceFiles({ dir, from, at: '2026-12-01' })).rejects.toThrow(
      'must not be negative',
    );
    expect(readdirSync(dir)).toEqual(['new']);
  });
});
