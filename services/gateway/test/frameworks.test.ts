import { inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aiSdkAnthropic, aiSdkChat, aiSdkGoogle, aiSdkResponses } from './frameworks/ai-sdk.ts';
import { anthropicClient } from './frameworks/anthropic-client.ts';
import { cohereClient } from './frameworks/cohere-client.ts';
import type { Framework, Seat } from './frameworks/framework.ts';
import { googleClient } from './frameworks/google-client.ts';
import { instructor } from './frameworks/instructor.ts';
import { langChainAnthropic, langChainOpenAi } from './frameworks/langchain.ts';
import { mistralClient } from './frameworks/mistral-client.ts';
import { agentsByChat, agentsByResponses } from './frameworks/openai-agents.ts';
import { openAiChat, openAiResponses } from './frameworks/openai-client.ts';
import { type Scenario, startScenario } from './scenario.ts';
import { answerOfVendor } from './vendor-models/answer-of-vendor.ts';
import { spoken, structured } from './vendor-models/model.ts';

/** Vendors' clients and frameworks, unmodified, against models that refuse what their vendors refuse. */
let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
  scenario.upstream.handle(answerOfVendor);
});
afterAll(() => scenario.stop());

const models = {
  'gpt-4.1': 'openai',
  'gpt-6.1-sol': 'openai',
  'claude-sonnet-4-5': 'anthropic',
  'claude-opus-5-5': 'anthropic',
  'gemini-3-pro-preview': 'google',
  'gemini-3.8-flash': 'google',
  'mistral-large-latest': 'mistral-ai',
  'command-a-03-2025': 'cohere',
  'amazon.nova-lite-v1:0': 'bedrock',
} as const;
type Model = keyof typeof models;

/** Their paths bring it, or have none. */
const withoutVersion: ReadonlySet<string> = new Set(['google', 'cohere', 'bedrock']);
const credentials = {
  'x-service-aws-access-key-id': 'AKID',
  'x-service-aws-secret-access-key': 'SECRET',
  'x-service-aws-region': 'eu-central-1',
};

function seatOf(model: Model): Seat {
  const provider = models[model];
  const { url } = scenario.upstream;
  return {
    url: scenario.stack.gatewayUrls[0] ?? '',
    model,
    headers: {
      'x-service-api-key': scenario.stack.credentials.workspace_key,
      'x-service-provider': provider,
      'x-service-custom-host': withoutVersion.has(provider) ? url : `${url}/v1`,
      ...(provider === 'bedrock' && credentials),
    },
  };
}

/** Its own vendor first, then those of other formats. */
const others: Model[] = [
  'claude-opus-5-5',
  'gemini-3.8-flash',
  'command-a-03-2025',
  'amazon.nova-lite-v1:0',
];
const ofOpenAi: Model[] = ['gpt-4.1', ...others];
const ofAnthropic: Model[] = [
  'claude-sonnet-4-5',
  'gpt-6.1-sol',
  'gemini-3-pro-preview',
  'amazon.nova-lite-v1:0',
];
const frameworks: [string, (seat: Seat) => Framework, Model[]][] = [
  ['openai by chat', openAiChat, ofOpenAi],
  ['openai by responses', openAiResponses, ofOpenAi],
  ['@anthropic-ai/sdk', anthropicClient, ofAnthropic],
  ['@mistralai/mistralai', mistralClient, ['mistral-large-latest', ...ofOpenAi]],
  ['AI SDK by chat', aiSdkChat, ofOpenAi],
  ['AI SDK by responses', aiSdkResponses, ofOpenAi],
  ['AI SDK by messages', aiSdkAnthropic, ofAnthropic],
  ['AI SDK by Gemini’s own', aiSdkGoogle, ['gemini-3-pro-preview']],
  ['@google/genai', googleClient, ['gemini-3-pro-preview']],
  ['cohere-ai', cohereClient, ['command-a-03-2025']],
  ['LangChain by chat', langChainOpenAi, ofOpenAi],
  ['LangChain by messages', langChainAnthropic, ofAnthropic],
  ['OpenAI Agents by chat', agentsByChat, ofOpenAi],
  ['OpenAI Agents by responses', agentsByResponses, ofOpenAi],
];
const seats = frameworks.flatMap(([name, make, served]) =>
  served.map((model) => [name, model, make] as const),
);

const asked: readonly [string, (framework: Framework) => Promise<void>][] = [
  [
    'answers, also with a temperature',
    async (framework) => expect(await framework.plain()).toBe(spoken),
  ],
  ['streams', async (framework) => expect(await framework.stream()).toBe(spoken)],
  [
    'answers by a schema',
    async (framework) => expect(await framework.bySchema()).toEqual(structured),
  ],
  [
    'answers by a tool that is demanded',
    async (framework) => expect(await framework.byTool()).toEqual(structured),
  ],
  [
    'uses tools over several turns',
    async (framework) => {
      const seen: string[] = [];
      const look = (city: string) => {
        seen.push(city);
        return `Sunny in ${city}.`;
      };
      expect(await framework.loop(look)).toBe(spoken);
      expect(seen).toEqual(['Paris', 'Rome']);
    },
  ],
];

describe.each(seats)('%s, at %s', (name, model, make) => {
  const at = seats.findIndex(([one, other]) => one === name && other === model);
  // In the suite every other thing of each (`npm run test:long`: all).
  it.each(inTurns(asked, 2, at))('%s', async (_, ask) => ask(make(seatOf(model))));
});

describe.each(ofOpenAi)('instructor, at %s', (model) => {
  it.each(['TOOLS', 'JSON_SCHEMA'] as const)('answers by %s', async (mode) => {
    expect(await instructor(seatOf(model), mode)).toMatchObject(structured);
  });
});

describe('answers of a provider that gives them no ids', () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  it.each([
    ['chat/completions', { messages }],
    ['messages', { messages, max_tokens: 100 }],
    ['responses', { input: 'Hello' }],
  ])('have each their own, however many begin at once: /v1/%s', async (path, asked) => {
    const { url, headers, model } = seatOf('amazon.nova-lite-v1:0');
    const ask = async (_: unknown, index: number): Promise<string | undefined> => {
      const response = await fetch(`${url}/v1/${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({ ...asked, model, stream: index % 2 === 0 }),
      });
      return /"id":"([^"]+)"/.exec(await response.text())?.[1];
    };
    const ids = await Promise.all(Array.from({ length: 60 }, ask));
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(ids.length);
  });
});
