import { directConfig, type ResolvedTarget } from '@sluice/engine';
import { makeHostRules } from '@sluice/outbound';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import { Visit } from '../exchange/exchange.ts';
import { prepareCall } from './prepare-call.ts';
import { resolveTarget } from './targets/resolve-target.ts';

const rules = makeHostRules({ trusted: undefined, production: false });
const bundle = exampleBundle({
  providers: [
    {
      slug: 'vertex',
      provider: 'vertex-ai',
      status: 'active',
      allowAllModels: true,
      configurationsJson: '{"vertex_project_id":"my-project","vertex_region":"eu"}',
    },
    { slug: 'gpt', provider: 'openai', status: 'active', apiKey: 'sk', allowAllModels: true },
  ] as never,
});

/** What is sent for a body, at the target that its model names; `shaped` as a config would have made it. */
function sent(body: object, shaped?: object) {
  const text = JSON.stringify(body);
  const exchange = exampleExchange({ bundle, key: exampleKey(), body: text });
  exchange.subject.body = Buffer.from(text);
  exchange.subject.json = JSON.parse(text);
  exchange.subject.model = String(exchange.subject.json?.model ?? '');
  const planned = directConfig.targets[0] as ResolvedTarget;
  const target = resolveTarget(exchange, planned);
  const call = prepareCall(new Visit(exchange, planned), target, shaped as never, {
    hostRules: rules,
  });
  return { ...call, text: String(call.body) };
}

describe('the model in the body', () => {
  const messages = [{ role: 'user', content: 'Hi' }];

  it('is written as the provider’s envelope names it', () => {
    const { origin, path, text } = sent({ model: '@vertex/meta.llama-4-maas', messages });
    expect(origin + path).toBe(
      'https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/my-project/locations/eu/endpoints/openapi/chat/completions',
    );
    expect(JSON.parse(text)).toEqual({ model: 'meta/llama-4-maas', messages });
  });

  it('is left out where the address alone names it', () => {
    const { path, text } = sent({ model: '@vertex/gemini-2.5-pro', messages, stream: true });
    expect(path).toMatch(/\/gemini-2\.5-pro:streamGenerateContent\?alt=sse$/);
    expect(JSON.parse(text)).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] });
  });

  it('loses its slug, and nothing else changes', () => {
    expect(sent({ z: 1, model: '@gpt/gpt-4o', messages }).text).toBe(
      JSON.stringify({ z: 1, model: 'gpt-4o', messages }),
    );
  });

  it('loses its slug in a body that a config has changed, too', () => {
    const body = { model: '@gpt/gpt-4o', messages };
    expect(JSON.parse(sent(body, { ...body, seed: 1 }).text)).toEqual({
      model: 'gpt-4o',
      messages,
      seed: 1,
    });
    expect(JSON.parse(sent(body, { messages }).text)).toEqual({ messages });
  });
});
