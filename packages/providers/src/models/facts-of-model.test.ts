import { describe, expect, it } from 'vitest';
import { factsOfModel, modelFamilies } from './facts-of-model.ts';

const names: [asked: string, row: string][] = [
  ['claude-opus-4-5', 'claude-opus-4-5'],
  ['claude-opus-4-5-20251101', 'claude-opus-4-5'],
  ['claude-opus-4-20250514', 'claude-opus-4'],
  ['claude-opus-4-0', 'claude-opus-4'],
  ['claude-opus-4@20250514', 'claude-opus-4'],
  ['claude-3-7-sonnet-latest', 'claude-3-7-sonnet'],
  ['claude-3-5-sonnet-v2@20241022', 'claude-3-5-sonnet'],
  ['claude-3-opus-20240229', 'claude-3-opus'],
  ['us.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
  ['global.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
  ['anthropic.claude-v2:1', 'claude-2'],
  ['anthropic.claude-instant-v1', 'claude-instant-1.2'],
  [
    'arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0',
    'claude-3-haiku',
  ],
  ['anthropic/claude-opus-4.5', 'claude-opus-4-5'],
  ['anthropic/claude-4.7-opus', 'claude-opus-4-7'],
  ['databricks-claude-sonnet-4-5', 'claude-sonnet-4-5'],
  ['claude-mythos-preview', 'claude-mythos-preview'],
  ['claude-fable-5-1', 'claude-fable-5-1'],
  ['gpt-5.6', 'gpt-5.6'],
  ['gpt-5.6-terra', 'gpt-5.6-terra'],
  ['openai/gpt-5.5-2026-04-23', 'gpt-5.5'],
  ['prod-gpt-5.4-mini', 'gpt-5.4'],
  ['gpt-5.3-codex', 'gpt-5.2-codex'],
  ['gpt-5-codex', 'gpt-5-codex'],
  ['codex-mini-latest', 'gpt-5-codex'],
  ['gpt-5.5-pro', 'gpt-5.2-pro'],
  ['gpt-5-pro-2025-10-06', 'gpt-5-pro'],
  ['gpt-5-nano-2025-08-07', 'gpt-5'],
  ['gpt-5.1-chat-latest', 'gpt-5.1-chat'],
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['gpt-4o-mini-search-preview', 'gpt-4-search'],
  ['chatgpt-4o-latest', 'gpt-4o'],
  ['gpt-4.1-nano', 'gpt-4.1'],
  ['gpt-4-turbo-2024-04-09', 'gpt-4-turbo'],
  ['gpt-4-0613', 'gpt-4'],
  ['gpt-35-turbo', 'gpt-3.5'],
  ['gpt-3.5-turbo-0125', 'gpt-3.5'],
  ['o4-mini', 'o4'],
  ['o3-mini-2025-01-31', 'o3'],
  ['o3-pro', 'o1-pro'],
  ['o4-mini-deep-research', 'o3-deep-research'],
  ['openai.gpt-oss-120b-1:0', 'gpt-oss'],
  ['gpt-6-astra', 'gpt-6-astra'],
  ['openai.gpt-6-1-sol', 'gpt-6.1-sol'],
  ['gpt-6.2-sol', 'gpt-6.1-sol'],
  ['gpt-6-luna-2026-09-22', 'gpt-6-luna'],
  ['gpt-6.1-terra', 'gpt-6.1-terra'],
  ['gpt-6-terra', 'gpt-5.6-terra'],
  ['gpt-6', 'gpt-6'],
  ['grok-4-0709', 'grok-4'],
  ['grok-4-1-fast-non-reasoning', 'grok-4'],
  ['xai.grok-4-1-fast-reasoning', 'grok-4'],
  ['grok-4.20-0309-reasoning', 'grok-4'],
  ['grok-code-fast-1', 'grok-code'],
  ['x-ai/grok-4.3', 'grok-4.3'],
  ['grok-4.5', 'grok-4.5'],
  ['grok-4.7', 'grok-4.7'],
  ['grok-latest', 'grok-4.7'],
  ['mistral-medium-2604', 'mistral-medium-3-5'],
  ['mistral-medium-latest', 'mistral-medium-3-5'],
  ['mistral-medium-3', 'mistral-medium-3-5'],
  ['mistral-medium-3-5', 'mistral-medium-3-5'],
  ['mistral-small-2603', 'mistral-medium-3-5'],
  ['mistralai/mistral-small-4', 'mistral-medium-3-5'],
  ['magistral-medium-2509', 'mistral-medium-3-5'],
  ['mistral-medium-2508', 'mistral-large'],
  ['mistral-medium-3.1', 'mistral-large'],
  ['mistralai/Mistral-Small-3.2-24B-Instruct-2506', 'mistral-large'],
  ['mistral-large-latest', 'mistral-large'],
  ['ministral-8b-2512', 'mistral-large'],
  ['devstral-medium-latest', 'mistral-large'],
  ['codestral-latest', 'codestral'],
  ['grok-3-mini-fast', 'grok-3-mini'],
  ['grok-2-vision', 'grok-3'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'llama'],
];

describe('facts of a model', () => {
  it.each(names)('finds %s', (asked, row) => {
    expect(factsOfModel(asked)?.model).toBe(row);
  });

  it.each([
    ['o1', 100_000],
    ['o3-mini', 100_000],
    ['o4-mini-2025-04-16', 100_000],
    ['o3-pro', 100_000],
    ['o3-deep-research', 100_000],
    ['gpt-5-pro', 272_000],
    ['gpt-5.2-pro', 128_000],
    ['gpt-5-codex', 128_000],
    ['gpt-5.3-codex', 128_000],
    ['gpt-5-chat-latest', 16_384],
    ['gpt-5.2-chat-latest', 16_384],
    ['gpt-4-turbo', 4096],
    ['gpt-4', undefined],
  ])('knows what %s writes at most: %s', (asked, most) => {
    expect(factsOfModel(asked)?.outputTokensMax).toBe(most);
  });

  it('gives an unknown newer model the row of its newest sibling', () => {
    expect(factsOfModel('claude-opus-7')?.model).toBe('claude-opus-5-5');
    expect(factsOfModel('claude-haiku-6-20270101')?.model).toBe('claude-haiku-5-5');
    expect(factsOfModel('claude-sonnet-latest')?.model).toBe('claude-sonnet-5-5');
  });

  it('gives a version between two rows the older one', () => {
    expect(factsOfModel('claude-opus-5-2')?.model).toBe('claude-opus-5');
    expect(factsOfModel('claude-sonnet-4-2')?.model).toBe('claude-sonnet-4');
  });

  it('gives a version older than all rows the oldest one', () => {
    expect(factsOfModel('claude-1')?.model).toBe('claude-2');
    expect(factsOfModel('claude-haiku-2')?.model).toBe('claude-3-haiku');
  });

  it('gives a line it does not know the newest row of the family', () => {
    expect(factsOfModel('claude-saga-6')?.model).toBe('claude-opus-5-5');
    expect(factsOfModel('claude')?.model).toBe('claude-opus-5-5');
  });

  it.each([
    ['models/gemini-pro-latest', 'gemini-3.1-pro'],
    ['google/gemini-3-pro-preview', 'gemini-3-pro'],
    ['google.gemini-2.5-flash-lite-preview-09-2025', 'gemini-2.5-flash-lite'],
    ['gemini-3.7-flash', 'gemini-3.7-flash'],
    ['gemini-4-flash', 'gemini-3.8-flash'],
    ['gemini-3.5-flash', 'gemini-3.5-flash'],
    ['gemini-3.6-flash', 'gemini-3.6-flash'],
    ['gemini-3.5-flash-lite', 'gemini-3.5-flash-lite'],
    ['gemini-3.1-flash-lite-preview', 'gemini-3.1-flash-lite'],
    ['gemini-2.0-flash-001', 'gemini-1-flash'],
    ['gemini-3-pro-image-preview', 'gemini-3-pro-image'],
    ['gemini-2.5-flash-preview-tts', 'gemini-2.5-tts'],
    ['gemini-exp', 'gemini-3.8-flash'],
  ])('takes %s for %s', (name, model) => {
    expect(factsOfModel(name)?.model).toBe(model);
  });

  it('knows nothing of a model of no family', () => {
    for (const name of [
      'my-own-deployment',
      'gpt-image-2',
      'gpt-realtime',
      'foo1',
      'grok-4.20-multi-agent-0309',
    ])
      expect(factsOfModel(name)?.model, name).toBeUndefined();
  });

  it.each(modelFamilies.flatMap(({ rows }) => rows.map(({ facts }) => facts)))(
    'finds $model by its own name, and says where its facts come from',
    (facts) => {
      expect(factsOfModel(facts.model)).toBe(facts);
      expect(facts.source).toMatch(/^https:\/\//);
      expect(facts.checked).toMatch(/^\d{4}-\d\d-\d\d$/);
    },
  );
});
