import { type JsonObject, noUsage } from '@sluice/contracts';
import {
  costOfReply,
  PriceBook,
  type Rates,
  tokensOf,
  unitsOf,
  unpricedTools,
} from '@sluice/pricing';
import type { ReplyFacts } from '@sluice/providers';
import { emptyRecord } from '@sluice/usage';
import { describe, expect, it } from 'vitest';
import { readFacts, type VendorReply } from '../../test/read-facts.ts';
import { addReply } from '../usage/add-reply.ts';

/** A reply as a vendor sends it, and what is read of it and charged for it: by hand. */
interface Case extends VendorReply {
  tokens?: Partial<NonNullable<ReplyFacts['usage']>>;
  facts?: Partial<ReplyFacts>;
  /** Undefined = the cost is unknown. */
  nanoUsd: number | undefined;
  /** What other models of the provider did for it, each at its own price. */
  otherNanoUsd?: number;
  /** What of it the price list does not know. */
  unpriced?: readonly string[];
  isCut?: true;
}

/** What models of pictures counted beside the answer. */
const drawn = {
  model: 'gpt-image-2.6-flare',
  tokens: {
    ...noUsage,
    inputTokens: 150,
    outputTokens: 1056,
    cacheReadTokens: 60,
    inputImageTokens: 100,
    outputImageTokens: 1056,
    cacheReadImageTokens: 40,
  },
};
const wrote = {
  model: 'gpt-6.2-sol',
  tokens: { ...noUsage, inputTokens: 200, outputTokens: 700, reasoningTokens: 300 },
};

const cases: Readonly<Record<string, Case>> = {
  'OpenAI: cached and reasoned': {
    provider: 'openai',
    model: 'gpt-5.1',
    reply: chat({
      prompt_tokens: 2000,
      completion_tokens: 300,
      prompt_tokens_details: { cached_tokens: 1500, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 200 },
    }),
    tokens: { inputTokens: 2000, cacheReadTokens: 1500, outputTokens: 300, reasoningTokens: 200 },
    facts: { servedTier: 'standard' },
    nanoUsd: 500 * 1250 + 1500 * 125 + 300 * 10_000,
  },
  'OpenAI: asked as priority, served as flex': {
    provider: 'openai',
    model: 'gpt-5.1',
    request: { service_tier: 'priority' },
    reply: chat({ prompt_tokens: 2000, completion_tokens: 300 }, { service_tier: 'flex' }),
    facts: { servedTier: 'flex' },
    nanoUsd: (2000 * 1250 + 300 * 10_000) / 2,
  },
  'OpenAI: asked as priority, and the reply leaves it open': {
    provider: 'openai',
    model: 'gpt-5.1',
    request: { service_tier: 'priority' },
    reply: chat({ prompt_tokens: 2000, completion_tokens: 300 }, { service_tier: 'auto' }),
    nanoUsd: 2000 * 1250 + 300 * 10_000,
  },
  'OpenAI: sound, of which some was cached': {
    provider: 'openai',
    model: 'gpt-realtime',
    reply: chat(
      {
        prompt_tokens: 1000,
        completion_tokens: 60,
        prompt_tokens_details: {
          cached_tokens: 500,
          audio_tokens: 600,
          cached_tokens_details: { text_tokens: 100, audio_tokens: 400 },
        },
        completion_tokens_details: { audio_tokens: 50 },
      },
      { model: 'gpt-realtime' },
    ),
    tokens: { inputAudioTokens: 600, cacheReadAudioTokens: 400, outputAudioTokens: 50 },
    nanoUsd: 300 * 4000 + 100 * 400 + 400 * 400 + 200 * 32_000 + 10 * 16_000 + 50 * 64_000,
  },
  'OpenAI: searches of a response, pages that were opened aside': {
    provider: 'openai',
    endpoint: 'createModelResponse',
    model: 'gpt-5.1',
    reply: {
      id: 'resp_1',
      model: 'gpt-5.1-2025-11-13',
      status: 'completed',
      service_tier: 'priority',
      output: [
        { type: 'web_search_call', action: { type: 'search', query: 'a' } },
        { type: 'web_search_call', action: { type: 'open_page', url: 'b' } },
        { type: 'web_search_call', action: { type: 'search', query: 'c' } },
        { type: 'file_search_call', queries: ['d', 'e'] },
        { type: 'message', content: [] },
      ],
      usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 100 },
    },
    facts: { servedTier: 'priority', units: { webSearches: 2, fileSearches: 1 } },
    nanoUsd: 1000 * 2500 + 100 * 20_000 + 2 * 10_000_000 + 2_500_000,
  },
  'OpenAI: a response whose searches are told, with pictures and containers that have no price': {
    provider: 'openai',
    endpoint: 'createModelResponse',
    model: 'gpt-5.1',
    reply: {
      id: 'resp_1',
      model: 'gpt-5.1-2025-11-13',
      status: 'completed',
      output: [
        { type: 'web_search_call', action: { type: 'search', query: 'a' } },
        { type: 'web_search_call', action: { type: 'search', query: 'discounted' } },
        { type: 'code_interpreter_call', container_id: 'cntr_1' },
        {
          type: 'shell_call',
          environment: { type: 'container_reference', container_id: 'cntr_1' },
        },
        { type: 'shell_call', environment: { type: 'local' } },
        { type: 'image_generation_call', result: 'aGk=' },
      ],
      usage: { input_tokens: 1000, input_tokens_details: { cached_tokens: 0 }, output_tokens: 100 },
      tool_usage: {
        image_gen: { input_tokens: 50, output_tokens: 1056, total_tokens: 1106 },
        web_search: { num_requests: 1 },
      },
    },
    facts: { units: { webSearches: 1, codeExecutions: 2, imageGenerations: 1 } },
    nanoUsd: 1000 * 1250 + 100 * 10_000 + 10_000_000,
    unpriced: ['code_execution', 'image_generation'],
  },
  'OpenAI: pictures of a response that are told as tokens alone': {
    provider: 'openai',
    endpoint: 'createModelResponse',
    model: 'gpt-5.1',
    reply: {
      id: 'resp_1',
      model: 'gpt-5.1',
      output: [],
      usage: { input_tokens: 1000, output_tokens: 100 },
      tool_usage: {
        image_gen: { input_tokens: 50, output_tokens: 1056, total_tokens: 1106 },
        web_search: { num_requests: 0 },
      },
    },
    facts: { units: { imageGenerations: 1 } },
    nanoUsd: 1000 * 1250 + 100 * 10_000,
    unpriced: ['image_generation'],
  },
  'OpenAI: pictures of a response that says which model draws, and one that another model wrote': {
    provider: 'openai',
    endpoint: 'createModelResponse',
    model: 'gpt-5.1',
    reply: {
      id: 'resp_1',
      model: 'gpt-5.1',
      tools: [
        {
          type: 'image_generation',
          model: 'gpt-image-2.6-flare',
          output_format: 'svg',
          size: 'auto',
        },
      ],
      output: [
        { type: 'image_generation_call', result: 'aGk=' },
        {
          type: 'image_generation_call',
          result: 'PHN2Zy8+',
          svg_usage: {
            input_tokens: 200,
            model: 'gpt-6.2-sol',
            output_tokens: 700,
            reasoning_tokens: 300,
            total_tokens: 900,
          },
        },
      ],
      usage: { input_tokens: 1000, output_tokens: 100 },
      tool_usage: {
        image_gen: {
          input_tokens: 150,
          input_tokens_details: { image_tokens: 100, text_tokens: 50 },
          cached_tokens: 60,
          cached_tokens_details: { cached_image_tokens: 40, cached_text_tokens: 20 },
          output_tokens: 1056,
          output_tokens_details: { image_tokens: 1056, text_tokens: 0 },
          total_tokens: 1206,
        },
        web_search: { num_requests: 0 },
      },
    },
    facts: { otherModels: [drawn, wrote] },
    nanoUsd: 1000 * 1250 + 100 * 10_000,
    otherNanoUsd:
      30 * 5000 + 60 * 8000 + 20 * 1250 + 40 * 2000 + 1056 * 30_000 + (200 * 2000 + 700 * 10_000),
  },
  'OpenAI: an SVG, which another model wrote beside the picture': {
    provider: 'openai',
    endpoint: 'imageGenerate',
    model: 'gpt-image-2.6-flare',
    reply: {
      created: 1,
      data: [{ b64_json: 'PHN2Zy8+' }],
      usage: {
        input_tokens: 50,
        input_tokens_details: { image_tokens: 0, text_tokens: 50 },
        output_tokens: 1056,
        total_tokens: 1106,
      },
      svg_usage: {
        input_tokens: 200,
        model: 'gpt-6.2-sol',
        output_tokens: 700,
        reasoning_tokens: 300,
        total_tokens: 900,
      },
    },
    facts: { units: { images: 1 }, otherModels: [wrote] },
    nanoUsd: 50 * 5000 + 1056 * 30_000,
    otherNanoUsd: 200 * 2000 + 700 * 10_000,
  },
  'OpenAI: a streamed response': {
    provider: 'openai',
    endpoint: 'createModelResponse',
    model: 'gpt-5.1',
    reply: [
      {
        type: 'response.created',
        response: { id: 'resp_1', model: 'gpt-5.1', service_tier: 'auto' },
      },
      { type: 'response.output_text.delta', delta: 'Hi' },
      {
        type: 'response.completed',
        response: {
          id: 'resp_1',
          model: 'gpt-5.1',
          service_tier: 'flex',
          status: 'completed',
          output: [{ type: 'web_search_call', action: { type: 'search' } }],
          usage: { input_tokens: 1000, output_tokens: 100 },
        },
      },
    ],
    facts: { servedTier: 'flex', units: { webSearches: 1 } },
    nanoUsd: (1000 * 1250 + 100 * 10_000) / 2 + 10_000_000,
  },
  'OpenAI: counts that grow with each part of a stream': {
    provider: 'openai',
    model: 'gpt-5.1',
    reply: [
      {
        id: 'c',
        model: 'gpt-5.1',
        choices: [{ index: 0, delta: { content: 'a' } }],
        usage: { prompt_tokens: 100, completion_tokens: 1 },
      },
      {
        id: 'c',
        model: 'gpt-5.1',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        usage: { prompt_tokens: 100, completion_tokens: 9 },
      },
    ],
    tokens: { inputTokens: 100, outputTokens: 9 },
    nanoUsd: 100 * 1250 + 9 * 10_000,
  },
  'OpenAI: images in, images out, by their tokens': {
    provider: 'openai',
    endpoint: 'imageGenerate',
    model: 'gpt-image-1.5',
    reply: {
      created: 1,
      quality: 'high',
      size: '1024x1024',
      data: [{ b64_json: 'AA==' }],
      usage: {
        input_tokens: 500,
        input_tokens_details: { text_tokens: 100, image_tokens: 400 },
        output_tokens: 1100,
        output_tokens_details: { text_tokens: 50, image_tokens: 1050 },
      },
    },
    tokens: { inputImageTokens: 400, outputImageTokens: 1050 },
    facts: { units: { images: 1, imageQuality: 'high', imageSize: '1024x1024' } },
    nanoUsd: 100 * 5000 + 400 * 8000 + 50 * 10_000 + 1050 * 32_000,
  },
  'OpenAI: images without tokens, as they were asked for': {
    provider: 'openai',
    endpoint: 'imageGenerate',
    model: 'dall-e-3',
    request: { quality: 'hd', size: '1792x1024' },
    reply: { created: 1, data: [{ url: 'https://x/1' }] },
    facts: { units: { images: 1, imageQuality: 'hd', imageSize: '1792x1024' } },
    nanoUsd: 120_000_000,
  },
  'OpenAI: no usage': {
    provider: 'openai',
    model: 'gpt-5.1',
    reply: { id: 'c', model: 'gpt-5.1', choices: [] },
    nanoUsd: undefined,
  },
  'OpenAI: explicit zeros are zeros': {
    provider: 'openai',
    model: 'gpt-5.1',
    reply: chat({ prompt_tokens: 0, completion_tokens: 0 }),
    nanoUsd: 0,
  },
  'OpenAI: negative, fractional and no numbers': {
    provider: 'openai',
    model: 'gpt-5.1',
    reply: chat({
      prompt_tokens: -5,
      completion_tokens: 7.9,
      prompt_tokens_details: { cached_tokens: 'many', audio_tokens: null },
    }),
    // Counted by the estimate, since it cannot be true.
    tokens: { inputTokens: Number.NaN, outputTokens: Number.NaN, cacheReadTokens: Number.NaN },
    nanoUsd: 0,
  },
  'OpenAI: absurd': {
    provider: 'openai',
    model: 'gpt-5.1',
    reply: chat({ prompt_tokens: 1e300, completion_tokens: 1 }),
    tokens: { inputTokens: Number.MAX_SAFE_INTEGER },
    nanoUsd: Number.MAX_SAFE_INTEGER,
    isCut: true,
  },
  'xAI: reasoning beside the completion, tools, its own cost': {
    provider: 'x-ai',
    model: 'grok-4',
    reply: chat(
      {
        prompt_tokens: 205,
        completion_tokens: 18,
        total_tokens: 523,
        prompt_tokens_details: { cached_tokens: 159, text_tokens: 205 },
        completion_tokens_details: { reasoning_tokens: 300 },
        server_side_tool_usage_details: {
          web_search_calls: 2,
          x_search_calls: 1,
          code_interpreter_calls: 0,
        },
        cost_in_usd_ticks: 160_708_500,
      },
      { model: 'grok-4' },
    ),
    tokens: { outputTokens: 318, cacheReadTokens: 159 },
    facts: { units: { webSearches: 2, xSearches: 1 }, providerCostNanoUsd: 16_070_850 },
    nanoUsd: 46 * 3000 + 159 * 750 + 318 * 15_000 + 3 * 5_000_000,
  },
  'OpenRouter: a key of one’s own': {
    provider: 'openrouter',
    model: 'openai/gpt-4o-mini',
    reply: chat(
      {
        prompt_tokens: 1000,
        completion_tokens: 100,
        cost: 0.0000105,
        is_byok: true,
        cost_details: { upstream_inference_cost: 0.00021 },
      },
      { model: 'openai/gpt-4o-mini' },
    ),
    facts: { providerCostNanoUsd: 220_500 },
    nanoUsd: 1000 * 150 + 100 * 600,
  },
  'Perplexity: its fee by what it read, its own cost': {
    provider: 'perplexity-ai',
    model: 'sonar-pro',
    reply: chat(
      {
        prompt_tokens: 8,
        completion_tokens: 346,
        search_context_size: 'low',
        cost: {
          input_tokens_cost: 0,
          output_tokens_cost: 0.005,
          request_cost: 0.006,
          total_cost: 0.011,
        },
      },
      { model: 'sonar-pro' },
    ),
    facts: { units: { searchContext: 'low' }, providerCostNanoUsd: 11_000_000 },
    nanoUsd: 8 * 3000 + 346 * 15_000 + 6_000_000,
  },
  'Perplexity: a response, with its caches and its own cost': {
    provider: 'perplexity-ai',
    endpoint: 'createModelResponse',
    model: 'perplexity/sonar',
    reply: {
      id: 'resp_1',
      model: 'perplexity/sonar',
      status: 'completed',
      output: [{ type: 'search_results', queries: ['a'], results: [] }],
      usage: {
        input_tokens: 1000,
        input_tokens_details: { cache_creation_input_tokens: 100, cache_read_input_tokens: 600 },
        output_tokens: 100,
        total_tokens: 1100,
        cost: { currency: 'USD', input_cost: 0.001, output_cost: 0.002, total_cost: 0.008 },
      },
    },
    tokens: { inputTokens: 1000, cacheReadTokens: 600, cacheWriteTokens: 100, outputTokens: 100 },
    facts: { providerCostNanoUsd: 8_000_000 },
    nanoUsd: undefined,
  },
  'Perplexity: what it quoted and searched': {
    provider: 'perplexity-ai',
    model: 'sonar-deep-research',
    reply: chat(
      {
        prompt_tokens: 33,
        completion_tokens: 1000,
        citation_tokens: 5000,
        num_search_queries: 12,
        reasoning_tokens: 0,
      },
      { model: 'sonar-deep-research' },
    ),
    tokens: { citationTokens: 5000 },
    facts: { units: { webSearches: 12 } },
    nanoUsd: 33 * 2000 + 1000 * 8000 + 5000 * 2000 + 12 * 5_000_000,
  },
  'Anthropic’s format: the parts of what was written to the cache, without their sum': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-sonnet-4-5',
    reply: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 400 },
        output_tokens: 50,
      },
    },
    tokens: { inputTokens: 700, cacheWriteTokens: 600, cacheWrite1hTokens: 400, outputTokens: 50 },
    nanoUsd: 100 * 3000 + 200 * 3750 + 400 * 6000 + 50 * 15_000,
  },
  'Perplexity: research, whose reasoning is beside the completion and not in the total': {
    provider: 'perplexity-ai',
    model: 'sonar-deep-research',
    reply: chat(
      {
        prompt_tokens: 33,
        completion_tokens: 11_395,
        total_tokens: 11_428,
        citation_tokens: 19_028,
        num_search_queries: 21,
        reasoning_tokens: 193_947,
        cost: {
          input_tokens_cost: 0.0,
          output_tokens_cost: 0.091,
          citation_tokens_cost: 0.038,
          reasoning_tokens_cost: 0.582,
          search_queries_cost: 0.105,
          total_cost: 0.816,
        },
      },
      { model: 'sonar-deep-research' },
    ),
    tokens: { outputTokens: 205_342, reasoningTokens: 193_947, citationTokens: 19_028 },
    facts: { units: { webSearches: 21 }, providerCostNanoUsd: 816_000_000 },
    nanoUsd: 33 * 2000 + 11_395 * 8000 + 19_028 * 2000 + 193_947 * 3000 + 21 * 5_000_000,
  },
  'Groq: usage in a place of its own': {
    provider: 'groq',
    model: 'llama-3.3-70b-versatile',
    reply: [
      {
        id: 'c',
        model: 'llama-3.3-70b-versatile',
        service_tier: 'on_demand',
        choices: [{ index: 0, delta: { content: 'a' } }],
      },
      {
        id: 'c',
        model: 'llama-3.3-70b-versatile',
        service_tier: 'on_demand',
        choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
        x_groq: { usage: { prompt_tokens: 17, completion_tokens: 100 } },
      },
    ],
    facts: { servedTier: 'standard' },
    nanoUsd: 17 * 590 + 100 * 790,
  },
  'Anthropic: written for five minutes and an hour, searched, within the US': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-opus-4-6',
    reply: message({
      input_tokens: 100,
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 1500,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 1000 },
      output_tokens: 40,
      server_tool_use: { web_search_requests: 3, web_fetch_requests: 1 },
      service_tier: 'standard',
      inference_geo: 'us',
    }),
    tokens: { inputTokens: 3600, cacheWriteTokens: 1500, cacheWrite1hTokens: 1000 },
    facts: { servedTier: 'standard', servedRegion: 'us', units: { webSearches: 3 } },
    nanoUsd:
      (100 * 5000 + 2000 * 500 + 500 * 6250 + 1000 * 10_000 + 40 * 25_000) * 1.1 + 3 * 10_000_000,
  },
  'Anthropic: fast': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-opus-4-6',
    reply: message({
      input_tokens: 100,
      output_tokens: 40,
      service_tier: 'standard',
      speed: 'fast',
      inference_geo: 'not_available',
    }),
    facts: { servedTier: 'fast' },
    nanoUsd: (100 * 5000 + 40 * 25_000) * 6,
  },
  'Anthropic: an advisor, and a model that declined, beside the answer': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-opus-4-6',
    reply: [
      { type: 'message_start', message: message({ input_tokens: 162, output_tokens: 1 }) },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: {
          input_tokens: 162,
          output_tokens: 11,
          iterations: [
            { type: 'message', model: 'claude-fable-5', input_tokens: 162, output_tokens: 3 },
            {
              type: 'advisor_message',
              model: 'claude-opus-5',
              input_tokens: 900,
              cache_creation_input_tokens: 100,
              output_tokens: 70,
            },
            { type: 'fallback_message', input_tokens: 162, output_tokens: 11 },
          ],
        },
      },
      { type: 'message_stop' },
    ],
    tokens: { inputTokens: 162, outputTokens: 11 },
    facts: {
      otherModels: [
        {
          model: 'claude-opus-5',
          tokens: { ...noUsage, inputTokens: 1000, cacheWriteTokens: 100, outputTokens: 70 },
        },
      ],
    },
    nanoUsd: 162 * 5000 + 11 * 25_000,
    otherNanoUsd: 900 * 5000 + 100 * 6250 + 70 * 25_000,
  },
  'Anthropic: what shortened the conversation': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-opus-4-6',
    reply: message({
      input_tokens: 162,
      output_tokens: 11,
      iterations: [
        { type: 'compaction', input_tokens: 99_195, output_tokens: 81 },
        { type: 'message', input_tokens: 162, output_tokens: 11 },
      ],
    }),
    tokens: { inputTokens: 162, outputTokens: 11 },
    facts: { chargedTokens: { inputTokens: 99_357, outputTokens: 92 } },
    nanoUsd: 99_357 * 5000 + 92 * 25_000,
  },
  'Anthropic: what shortened the conversation read and wrote the cache': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-opus-4-6',
    reply: message({
      input_tokens: 100,
      cache_read_input_tokens: 1000,
      output_tokens: 11,
      iterations: [
        {
          type: 'compaction',
          input_tokens: 300,
          cache_read_input_tokens: 9000,
          cache_creation_input_tokens: 500,
          cache_creation: { ephemeral_5m_input_tokens: 300, ephemeral_1h_input_tokens: 200 },
          output_tokens: 80,
        },
        { type: 'message', input_tokens: 100, cache_read_input_tokens: 1000, output_tokens: 11 },
      ],
    }),
    tokens: { inputTokens: 1100, cacheReadTokens: 1000, cacheWriteTokens: 0, outputTokens: 11 },
    facts: {
      chargedTokens: {
        inputTokens: 10_900,
        cacheReadTokens: 10_000,
        cacheWriteTokens: 500,
        cacheWrite1hTokens: 200,
        outputTokens: 91,
      },
    },
    nanoUsd: 400 * 5000 + 10_000 * 500 + 300 * 6250 + 200 * 10_000 + 91 * 25_000,
  },
  'Anthropic: counts of a stream grow, and begin with one': {
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-sonnet-4-5',
    reply: [
      {
        type: 'message_start',
        message: {
          id: 'm',
          model: 'claude-sonnet-4-5',
          usage: {
            input_tokens: 10,
            cache_read_input_tokens: 90,
            output_tokens: 1,
            service_tier: 'batch',
          },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'message_delta', delta: {}, usage: { output_tokens: 20 } },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: {
          input_tokens: 500,
          cache_read_input_tokens: 90,
          output_tokens: 50,
          server_tool_use: { web_search_requests: 1 },
        },
      },
      { type: 'message_stop' },
    ],
    tokens: { inputTokens: 590, cacheReadTokens: 90, outputTokens: 50 },
    facts: { servedTier: 'batch', units: { webSearches: 1 } },
    nanoUsd: (500 * 3000 + 90 * 300 + 50 * 15_000) / 2 + 10_000_000,
  },
  'Gemini: thoughts, tools in the prompt, sound and images, cached; grounded': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    reply: {
      responseId: 'r',
      modelVersion: 'gemini-2.5-flash',
      candidates: [
        {
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['a', 'b'],
            groundingChunks: [{ web: { uri: 'https://x' } }],
          },
        },
      ],
      usageMetadata: {
        promptTokenCount: 1000,
        toolUsePromptTokenCount: 73,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 109,
        cachedContentTokenCount: 400,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 700 },
          { modality: 'AUDIO', tokenCount: 300 },
        ],
        cacheTokensDetails: [
          { modality: 'TEXT', tokenCount: 300 },
          { modality: 'AUDIO', tokenCount: 100 },
        ],
        trafficType: 'ON_DEMAND',
      },
    },
    tokens: {
      inputTokens: 1073,
      outputTokens: 139,
      reasoningTokens: 109,
      cacheReadAudioTokens: 100,
    },
    facts: { servedTier: 'standard', units: { webSearches: 1 } },
    nanoUsd: 473 * 300 + 300 * 30 + 100 * 100 + 200 * 1000 + 139 * 2500 + 35_000_000,
  },
  'Gemini: the third generation is charged by the search, and repeats what it counted': {
    provider: 'google',
    model: 'gemini-3-pro-preview',
    reply: [
      {
        responseId: 'r',
        modelVersion: 'gemini-3-pro-preview',
        candidates: [{ content: { parts: [{ text: 'a' }] } }],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 1, serviceTier: 'flex' },
      },
      {
        responseId: 'r',
        modelVersion: 'gemini-3-pro-preview',
        candidates: [
          { finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['a', 'b', 'b'] } },
        ],
        usageMetadata: { promptTokenCount: 100, candidatesTokenCount: 20, serviceTier: 'flex' },
      },
    ],
    tokens: { inputTokens: 100, outputTokens: 20 },
    facts: { servedTier: 'flex', units: { webSearches: 2 } },
    nanoUsd: (100 * 2000 + 20 * 12_000) / 2 + 2 * 14_000_000,
  },
  'Bedrock: written to the cache, for an hour too': {
    provider: 'bedrock',
    model: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    reply: {
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      serviceTier: { type: 'default' },
      usage: {
        inputTokens: 10,
        outputTokens: 4,
        cacheReadInputTokens: 100,
        cacheWriteInputTokens: 300,
        cacheDetails: [
          { ttl: '5m', inputTokens: 200 },
          { ttl: '1h', inputTokens: 100 },
        ],
      },
    },
    tokens: { inputTokens: 410, cacheWrite1hTokens: 100 },
    facts: { servedTier: 'standard' },
    nanoUsd: 10 * 3000 + 100 * 300 + 200 * 3750 + 100 * 6000 + 4 * 15_000,
  },
  'Cohere: what it bills is less than the model saw': {
    provider: 'cohere',
    model: 'command-r-08-2024',
    reply: {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
      usage: {
        billed_units: { input_tokens: 10, output_tokens: 104 },
        tokens: { input_tokens: 505, output_tokens: 107 },
        cached_tokens: 448,
      },
    },
    tokens: { inputTokens: 505, outputTokens: 107 },
    facts: { chargedTokens: { inputTokens: 10, outputTokens: 104 } },
    nanoUsd: 10 * 150 + 104 * 600,
  },
  'Mistral: sound in a conversation': {
    provider: 'mistral-ai',
    model: 'voxtral-small-latest',
    reply: chat(
      { prompt_tokens: 1000, completion_tokens: 60, prompt_audio_seconds: 30 },
      { model: 'voxtral-small-latest' },
    ),
    facts: { units: { audioSeconds: 30 } },
    // No list has a price of its seconds.
    nanoUsd: 1000 * 100 + 60 * 400,
  },
  'Mistral: pages': {
    provider: 'mistral-ai',
    endpoint: 'ocr',
    model: 'mistral-ocr-2505',
    reply: { model: 'mistral-ocr-2505', pages: [{ index: 0 }], usage_info: { pages_processed: 3 } },
    facts: { units: { pages: 3 } },
    nanoUsd: 3_000_000,
  },
  'Cohere: a rerank': {
    provider: 'cohere',
    endpoint: 'rerank',
    model: 'rerank-v3.5',
    reply: {
      id: 'r',
      results: [{ index: 0, relevance_score: 1 }],
      meta: { billed_units: { search_units: 2 } },
    },
    facts: { units: { searchUnits: 2 } },
    nanoUsd: 4_000_000,
  },
};

describe('replies of every dialect', () => {
  it.each(Object.entries(cases))('%s', (_name, wanted) => {
    const facts = readFacts(wanted);
    expect(facts.usage ?? {}).toMatchObject(wanted.tokens ?? {});
    expect(facts).toMatchObject(wanted.facts ?? {});
    const rates = ratesOf(wanted, facts);
    const cost = rates && costOf(rates, facts);
    expect(cost?.totalNanoUsd).toBe(
      wanted.nanoUsd === undefined ? undefined : Math.round(wanted.nanoUsd),
    );
    expect(cost?.isCut).toBe(wanted.isCut);
    const others = (facts.otherModels ?? []).map(({ model, tokens }) =>
      costOfReply(ratesOf({ ...wanted, model }, {}) as Rates, tokens, undefined),
    );
    const otherNanoUsd = others.reduce(
      (sum, other) => sum + (other?.totalNanoUsd ?? Number.NaN),
      0,
    );
    expect(otherNanoUsd).toBe(wanted.otherNanoUsd ?? 0);
    // What is charged by the call has a price, or is named.
    expect(cost?.unpriced ?? []).toEqual(wanted.unpriced ?? []);
    // Its record keeps all of it: whoever reckons anew comes to the same.
    expect((rates && costOfRecord(rates, facts))?.totalNanoUsd).toBe(cost?.totalNanoUsd);
  });
});

function ratesOf({ provider, model }: Case, facts: ReplyFacts): Rates | undefined {
  return new PriceBook().lookUp({
    provider,
    model: facts.model ?? model,
    atMs: Date.UTC(2026, 10, 22),
    tier: facts.servedTier,
    region: facts.servedRegion,
  });
}

function costOfRecord(rates: Rates, facts: ReplyFacts) {
  const record = emptyRecord();
  addReply(record, { facts, isEstimated: false, isImplausible: false }, undefined);
  const use = {
    ...record,
    units: Object.fromEntries(record.units),
    imagesByKind: Object.fromEntries(record.imagesByKind),
  };
  return costOfReply(rates, tokensOf(use), unitsOf(use));
}

function costOf(rates: Rates, facts: ReplyFacts) {
  const tokens =
    facts.chargedTokens === undefined || facts.usage === undefined
      ? facts.usage
      : { ...facts.usage, cacheReadTokens: 0, ...facts.chargedTokens };
  const cost = costOfReply(rates, tokens, facts.units);
  return cost === undefined ? undefined : { ...cost, unpriced: unpricedTools(rates, facts.units) };
}

function chat(usage: JsonObject, more: JsonObject = {}): JsonObject {
  const choices = [
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
  ];
  return {
    id: 'c',
    object: 'chat.completion',
    model: 'gpt-5.1',
    service_tier: 'default',
    choices,
    usage,
    ...more,
  };
}

function message(usage: JsonObject): JsonObject {
  return {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-4-6',
    content: [],
    stop_reason: 'end_turn',
    usage,
  };
}
