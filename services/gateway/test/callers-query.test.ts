import { bytes, json, refuseGoogleQuery } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from './scenario.ts';

/** What stands behind the `?` of a caller's address: Claude Code asks `/v1/messages?beta=true`, Azure's clients say a version. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
  scenario.upstream.handle(({ path }) => {
    const refusal = /goog|publishers|generateContent/.test(path)
      ? refuseGoogleQuery(path)
      : undefined;
    return refusal === undefined ? bytes(418, Buffer.from('{}')) : json(400, refusal.body);
  });
});
afterAll(() => scenario.stop());

const messages = [{ role: 'user', content: 'Hello' }];

async function pathAskedFor(
  path: string,
  provider: string,
  model: string,
  headers: Record<string, string> = {},
) {
  const response = await scenario.call(path, {
    body: { model, max_tokens: 9, messages },
    headers: {
      'x-service-provider': provider,
      'x-service-custom-host': scenario.upstream.url,
      ...headers,
    },
  });
  expect(response.status, await response.text()).toBe(418);
  return scenario.upstream.requests.at(-1)?.path;
}

const vertex = { 'x-service-vertex-project-id': 'project', 'x-service-vertex-region': 'eu' };
const aws = { 'x-service-aws-auth-type': 'apiKey', 'x-service-aws-region': 'us-east-1' };

describe('the query of a caller', () => {
  it('stays behind where the upstream speaks another format, which knows nothing of it', async () => {
    expect(await pathAskedFor('/v1/messages?beta=true', 'google', 'gemini-2.5-flash')).toBe(
      '/v1beta/models/gemini-2.5-flash:generateContent',
    );
    expect(await pathAskedFor('/v1/messages?beta=true', 'openai', 'gpt-4.1')).toBe(
      '/chat/completions',
    );
    const version = '/v1/chat/completions?api-version=2024-10-21';
    expect(await pathAskedFor(version, 'anthropic', 'claude-sonnet-4-5')).toBe('/messages');
    expect(await pathAskedFor(version, 'cohere', 'command-a-03-2025')).toBe('/v2/chat');
  });

  it('stays behind where a cloud serves the format at an address of its own', async () => {
    const claude = 'claude-sonnet-4-5@20250929';
    expect(await pathAskedFor('/v1/messages?beta=true', 'vertex-ai', claude, vertex)).toMatch(
      /publishers\/anthropic\/models\/[^?]*:rawPredict$/,
    );
    const bedrock = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
    expect(await pathAskedFor('/v1/messages?beta=true', 'bedrock', bedrock, aws)).toMatch(
      /\/invoke$/,
    );
  });

  it('passes where the upstream speaks the caller’s', async () => {
    expect(await pathAskedFor('/v1/messages?beta=true', 'anthropic', 'claude-sonnet-4-5')).toBe(
      '/messages?beta=true',
    );
    expect(await pathAskedFor('/v1/chat/completions?a=1&b', 'openai', 'gpt-4.1')).toBe(
      '/chat/completions?a=1&b',
    );
  });

  it('is said once where the provider’s address has the parameter as well', async () => {
    const path = await pathAskedFor(
      '/v1/chat/completions?api-version=2025-01-01-preview&beta=true',
      'azure-openai',
      'gpt-4.1',
      { 'x-service-azure-deployment-id': 'gpt-41', 'x-service-azure-api-version': '2024-10-21' },
    );
    expect(path).toBe(
      '/deployments/gpt-41/chat/completions?api-version=2025-01-01-preview&beta=true',
    );
  });
});
