import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const get = (path: string) => h.atRoot(undefined).get(`/model-configs/${path}`);

describe('GET /model-configs/pricing', () => {
  it('tells prices in cents a token to whoever asks, for caches to keep a while', async () => {
    const answer = await get('pricing/openai/gpt-4o').expect(200);
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    expect(answer.body).toEqual({
      pay_as_you_go: {
        request_token: { price: 0.00025 },
        response_token: { price: 0.001 },
        cache_read_input_token: { price: 0.000125 },
        additional_units: {
          web_search: { price: 1 },
          web_search_preview: { price: 2.5 },
          file_search: { price: 0.25 },
        },
      },
      batch_config: {
        request_token: { price: 0.000125 },
        response_token: { price: 0.0005 },
      },
      price_layer: 'catalogue',
      price_book_version: expect.stringMatching(/^genai-prices@/),
      service_tiers: {
        'background-2h': {
          request_token: { price: 0.000175 },
          response_token: { price: 0.0007 },
          cache_read_input_token: { price: 0.0000875 },
        },
        'background-8h': {
          request_token: { price: 0.00015 },
          response_token: { price: 0.0006 },
          cache_read_input_token: { price: 0.000075 },
        },
        batch: {
          request_token: { price: 0.000125 },
          response_token: { price: 0.0005 },
        },
        fast: {
          request_token: { price: 0.000425 },
          response_token: { price: 0.0017 },
          cache_read_input_token: { price: 0.0002125 },
        },
        priority: {
          request_token: { price: 0.000425 },
          response_token: { price: 0.0017 },
          cache_read_input_token: { price: 0.0002125 },
        },
      },
      calculate: {
        request: {
          operation: 'sum',
          operands: [
            {
              operation: 'multiply',
              operands: [{ value: 'input_tokens' }, { value: 'rates.request_token' }],
            },
            {
              operation: 'multiply',
              operands: [{ value: 'cache_read_tokens' }, { value: 'rates.cache_read_input_token' }],
            },
          ],
        },
        response: {
          operation: 'sum',
          operands: [
            {
              operation: 'multiply',
              operands: [{ value: 'output_tokens' }, { value: 'rates.response_token' }],
            },
          ],
        },
      },
      currency: 'USD',
    });
  });

  it('tells what is charged for long inputs and for caches that live an hour', async () => {
    const { body } = await get('pricing/anthropic/claude-sonnet-4-5').expect(200);
    expect(body).toMatchObject({
      pay_as_you_go: {
        request_token: { price: 0.0003 },
        cache_write_input_token: { price: 0.000375 },
        additional_units: { cache_write_1h: { price: 0.0006 } },
      },
      context_tiers: [{ above_input_tokens: 200_000, request_token: { price: 0.0006 } }],
    });
  });

  it('tells prices of other things than tokens, and of a request as such', async () => {
    const units = async (path: string) =>
      (await get(`pricing/${path}`).expect(200)).body.pay_as_you_go;
    expect(await units('openai/whisper-1')).toEqual({
      additional_units: { audio_second: { price: 0.01 } },
    });
    expect((await units('perplexity-ai/sonar')).additional_units.request.price).toBeCloseTo(1.2);
  });

  it('tells prices of images by quality and size, and of places with prices of their own', async () => {
    expect((await get('pricing/openai/dall-e-3').expect(200)).body.pay_as_you_go.image.hd).toEqual({
      '1024x1024': { price: 8 },
      '1024x1792': { price: 12 },
      '1792x1024': { price: 12 },
      default: { price: 8 },
    });
    const { body } = await get('pricing/anthropic/claude-opus-4-6').expect(200);
    expect(body.regions).toEqual([
      {
        regions: ['us'],
        service_tiers: {
          standard: expect.objectContaining({ request_token: { price: 0.00055 } }),
          fast: expect.objectContaining({ request_token: { price: 0.0033 } }),
        },
      },
    ]);
  });

  it.each([
    'openrouter/openai/gpt-4o',
    'openrouter/openai%2Fgpt-4o',
    'workers-ai/@cf/meta/llama-3.1-8b-instruct',
    'workers-ai/%40cf%2Fmeta%2Fllama-3.1-8b-instruct',
  ])('takes the whole rest of the path as the name: %s', async (path) => {
    expect((await get(`pricing/${path}`).expect(200)).body.currency).toBe('USD');
  });

  it.each([
    'pricing/openai/gpt-none',
    'pricing/nobody/gpt-4o',
    'pricing/constructor/gpt-4o',
    `pricing/openai/${'x'.repeat(2000)}`,
    'general/openai/gpt-none',
  ])('knows nothing of %s', async (path) => {
    const answer = await get(path);
    expect([answer.status, answer.body]).toEqual([404, { error: 'Model not found' }]);
    expect(answer.headers).not.toHaveProperty('cache-control');
  });
});

describe('GET /model-configs/general', () => {
  it('says what kind of model it is where the price tells, and nothing that is not known', async () => {
    expect((await get('general/openai/gpt-4o').expect(200)).body).toEqual({ isDefault: false });
    expect((await get('general/openai/whisper-1').expect(200)).body).toEqual({
      type: { primary: 'audio', supported: [] },
      isDefault: false,
    });
    expect((await get('general/mistral-ai/mistral-ocr-latest').expect(200)).body).toEqual({
      type: { primary: 'ocr', supported: [] },
      isDefault: false,
    });
  });
});
