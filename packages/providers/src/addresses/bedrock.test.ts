import type { Endpoint } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { baseUrlOf, pathOf } from '../address.ts';
import { findProvider } from '../catalog.ts';
import { readModel } from '../codecs/bedrock-converse/models.ts';
import { readSettings } from '../settings.ts';
import { findTranslation } from '../translation/find-translation.ts';

const bedrock = findProvider('bedrock')!;

describe('readModel', () => {
  const account = 'arn:aws:bedrock:eu-west-1:123456789012';
  it.each([
    [
      'anthropic.claude-3-haiku-20240307-v1:0',
      'anthropic',
      'anthropic.claude-3-haiku-20240307-v1:0',
    ],
    ['us.anthropic.claude-opus-4-6-v1', 'anthropic', 'anthropic.claude-opus-4-6-v1'],
    ['us-gov.anthropic.claude-x', 'anthropic', 'anthropic.claude-x'],
    ['global.cohere.embed-v4:0', 'cohere', 'cohere.embed-v4:0'],
    ['apac.amazon.nova-pro-v1:0', 'amazon', 'amazon.nova-pro-v1:0'],
    ['us.foo', 'us', 'us.foo'],
    ['plain', '', 'plain'],
    [
      'arn:aws:bedrock:us-east-1::foundation-model/meta.llama3-8b-instruct-v1:0',
      'meta',
      'meta.llama3-8b-instruct-v1:0',
    ],
    [
      'arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.titan-text-lite-v1',
      'amazon',
      'amazon.titan-text-lite-v1',
    ],
    [
      `${account}:inference-profile/eu.anthropic.claude-sonnet-4-5-20250929-v1:0`,
      'anthropic',
      'anthropic.claude-sonnet-4-5-20250929-v1:0',
    ],
    [`${account}:application-inference-profile/abc.def`, '', ''],
    [`${account}:provisioned-model/xyz`, '', ''],
    [
      encodeURIComponent(`${account}:inference-profile/us.amazon.nova-lite-v1:0`),
      'amazon',
      'amazon.nova-lite-v1:0',
    ],
    ['bad%zz.model', 'bad%zz', 'bad%zz.model'],
  ])('%s is %s', (text, vendor, name) => {
    expect(readModel(text)).toMatchObject({ vendor, name });
  });
});

describe('addresses', () => {
  const runtime = 'https://bedrock-runtime.us-east-1.amazonaws.com';
  const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/a';
  const rows: [Endpoint, string, boolean, string][] = [
    [
      'chatComplete',
      claude,
      false,
      `${runtime}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse`,
    ],
    [
      'chatComplete',
      claude,
      true,
      `${runtime}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream`,
    ],
    [
      'chatComplete',
      arn,
      true,
      `${runtime}/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fa/converse-stream`,
    ],
    [
      'chatComplete',
      encodeURIComponent(arn),
      false,
      `${runtime}/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fa/converse`,
    ],
    ['messages', 'anthropic.claude-v2:1', false, `${runtime}/model/anthropic.claude-v2%3A1/invoke`],
    [
      'messages',
      claude,
      true,
      `${runtime}/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream`,
    ],
    [
      'messages',
      'amazon.nova-pro-v1:0',
      true,
      `${runtime}/model/amazon.nova-pro-v1%3A0/converse-stream`,
    ],
    [
      'messages',
      arn,
      false,
      `${runtime}/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fa/converse`,
    ],
    [
      'messagesCountTokens',
      claude,
      false,
      `${runtime}/model/anthropic.claude-sonnet-4-5-20250929-v1%3A0/count-tokens`,
    ],
    [
      'complete',
      'meta.llama3-8b-instruct-v1:0',
      false,
      `${runtime}/model/meta.llama3-8b-instruct-v1%3A0/invoke`,
    ],
    ['embed', 'us.cohere.embed-v4:0', false, `${runtime}/model/us.cohere.embed-v4%3A0/invoke`],
    [
      'imageGenerate',
      'amazon.nova-canvas-v1:0',
      false,
      `${runtime}/model/amazon.nova-canvas-v1%3A0/invoke`,
    ],
    [
      'rerank',
      'cohere.rerank-v3-5:0',
      false,
      'https://bedrock-agent-runtime.us-east-1.amazonaws.com/rerank',
    ],
    ['listModels', '', false, 'https://bedrock.us-east-1.amazonaws.com/foundation-models'],
  ];
  it.each(rows)('%s of %s, stream %s', (endpoint, model, stream, url) => {
    const facts = { model, stream, setting: () => undefined };
    const { entry } = findTranslation(bedrock, endpoint, facts);
    expect(baseUrlOf(bedrock, entry, facts) + pathOf(entry, facts)).toBe(url);
  });

  it('names the region that is configured, before the one that is asked for', () => {
    const at = (configured: object, headers: Record<string, string>) => {
      const setting = readSettings(bedrock, configured as Record<string, unknown>, headers);
      return baseUrlOf(bedrock, undefined, { model: '', stream: false, setting });
    };
    const header = { 'x-service-aws-region': 'eu-west-1' };
    expect(at({}, header)).toBe('https://bedrock-runtime.eu-west-1.amazonaws.com');
    expect(at({ aws_region: 'cn-north-1' }, header)).toBe(
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    );
    for (const region of ['evil.com/', 'a@b', 'us-east-1.evil.com#', '..'])
      expect(() => at({}, { 'x-service-aws-region': region })).toThrow(
        expect.objectContaining({ code: 'provider.setting_invalid' }),
      );
  });

  it.each([
    ['embed', 'anthropic.claude-v2'],
    ['imageGenerate', 'amazon.nova-pro-v1:0'],
    ['createSpeech', 'amazon.nova-sonic-v1:0'],
  ] as const)('does not offer %s for %s', (endpoint, model) => {
    expect(() =>
      findTranslation(bedrock, endpoint, { model, stream: false, setting: () => undefined }),
    ).toThrow(expect.objectContaining({ code: 'provider.endpoint_unsupported' }));
  });

  it.each([
    ['meta.llama3-8b-instruct-v1:0', false, 'bedrock/llama-prompt'],
    ['meta.llama3-8b-instruct-v1:0', true, 'bedrock-converse'],
    ['amazon.nova-pro-v1:0', false, 'bedrock-converse'],
  ])('completes with %s, stream %s, in %s', (model, stream, format) => {
    const call = findTranslation(bedrock, 'complete', { model, stream, setting: () => undefined });
    expect(call.upstreamFormat).toBe(format);
  });

  it('reads betas from the header that Anthropic’s clients send, and from no other bare one', () => {
    const setting = readSettings(bedrock, {}, { 'anthropic-beta': 'b', 'aws-region': 'eu-west-1' });
    expect(setting('anthropic-beta')).toBe('b');
    expect(setting('aws-region')).toBeUndefined();
    const both = { 'anthropic-beta': 'b', 'x-service-anthropic-beta': 'p' };
    expect(readSettings(bedrock, {}, both)('anthropic-beta')).toBe('p');
  });
});
