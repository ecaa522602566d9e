import type { Endpoint, JsonObject } from '@sluice/contracts';
import { refuseMessages } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

/** What a native call is sent with; `undefined` = the caller's bytes. */
function sent(id: string, endpoint: Endpoint, body: JsonObject) {
  const provider = findProvider(id)!;
  const model = String(body.model);
  const context = contextFor(provider, true, { model, request: body });
  const call = findTranslation(provider, endpoint, context);
  expect(call.mode).toBe('native');
  return call.encode(body, context);
}

const messages = [{ role: 'user', content: 'q' }];
const asked = (model: string, more: JsonObject): JsonObject => ({
  model,
  max_tokens: 9000,
  messages,
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
  ...more,
});

const models = `claude-opus-4-5 claude-sonnet-4-5 claude-sonnet-4-6 claude-opus-4-7 claude-opus-4-8
  claude-opus-5 claude-sonnet-5 claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-fable-5-1
  claude-mythos-5`.split(/\s+/);

const waysToThink: JsonObject[] = [
  {},
  { thinking: { type: 'enabled', budget_tokens: 2000 } },
  ...['adaptive', 'disabled', 'between_tools'].map((type) => ({ thinking: { type } })),
];
const efforts: JsonObject[] = [
  {},
  ...['low', 'xhigh', 'max'].map((effort) => ({ output_config: { effort } })),
];
const samplings: JsonObject[] = [{}, { temperature: 0.2 }, { temperature: 1 }, { top_k: 5 }];
const choices: JsonObject[] = [{}, { tool_choice: { type: 'any' } }];

function* everyWayToAsk(): Generator<JsonObject> {
  for (const thought of waysToThink)
    for (const effort of efforts)
      for (const sampling of samplings)
        for (const choice of choices) yield { ...thought, ...effort, ...sampling, ...choice };
}

describe('a request to Claude by a version of its API', () => {
  const version = '2026-10-21';
  const byHeader = {
    sentHeader: (name: string) => (name === 'anthropic-version' ? version : undefined),
  };
  const askedBy = (
    body: JsonObject,
    more: object,
    id = 'anthropic',
    from: Endpoint = 'messages',
  ) => {
    const provider = findProvider(id)!;
    const model = String(body.model);
    const context = { ...contextFor(provider, true, { model, request: body }), ...more };
    return findTranslation(provider, from, context).encode(body, context);
  };

  it('is served without sampling, whatever its model', () => {
    for (const model of [...models, 'claude-of-tomorrow'])
      for (const sampling of [...samplings, { top_p: 0.3, temperature: 0.2 }]) {
        const body = asked(model, sampling);
        for (const [ask, more] of [
          [body, byHeader],
          [{ ...body, anthropic_version: version }, {}],
        ] as const) {
          const { body: changed = ask, dropped } = askedBy(ask, more);
          const { temperature, top_p, top_k } = changed;
          expect([temperature, top_p, top_k]).toEqual([undefined, undefined, undefined]);
          const meant = Object.entries(sampling).filter(([, value]) => value !== 1);
          expect([...dropped].sort()).toEqual(meant.map(([name]) => name).sort());
        }
        if (model !== 'claude-of-tomorrow') {
          const { body: changed = body } = askedBy(body, byHeader);
          expect(refuseMessages(changed, { version })).toBeUndefined();
          if (Object.keys(sampling).length > 0)
            expect(refuseMessages(body, { version })).toMatchObject({ status: 400 });
        }
      }
  });

  it('is served also where a caller of another format asks it', () => {
    for (const temperature of [0.2, 1]) {
      const body = { model: 'claude-sonnet-4-5', messages, temperature };
      const now = askedBy(body, byHeader, 'anthropic', 'chatComplete');
      expect(now.body).not.toHaveProperty('temperature');
      expect(now.dropped).toEqual(temperature === 1 ? [] : ['temperature']);
      const before = askedBy(body, {}, 'anthropic', 'chatComplete');
      expect(before.body).toMatchObject({ temperature });
    }
  });
});

describe('a request to Claude where a cloud serves it', () => {
  const version = '2026-10-21';
  const hosts = [
    ['vertex-ai', 'vertex', 'anthropic.', 'vertex-2023-10-16'],
    ['bedrock', 'bedrock', 'us.anthropic.', 'bedrock-2023-05-31'],
  ] as const;
  const named = (name: string) => (name === 'anthropic-version' ? version : undefined);
  const isLate = (model: string) => !/-4-[56]$/.test(model);

  it.each(hosts)(
    '%s is by the version that it asks for, where that is had there',
    (id, host, prefix, own) => {
      const provider = findProvider(id)!;
      for (const [index, model] of models.entries())
        for (const sampling of samplings) {
          const asked = { model: `${prefix}${model}`, max_tokens: 9, messages, ...sampling };
          const ways: [JsonObject, object][] = [
            [{ ...asked, anthropic_version: version }, {}],
            [asked, { setting: named }],
            [{ ...asked, anthropic_version: own }, { setting: named }],
            [{ ...asked, anthropic_version: '2023-06-01' }, {}],
            [asked, {}],
          ];
          for (const [way, [body, more]] of ways.entries())
            for (const from of host === 'vertex'
              ? (['messages', 'chatComplete'] as const)
              : (['messages'] as const)) {
              const context = {
                ...contextFor(provider, true, { model: asked.model, request: body }),
                ...more,
              };
              const sent = findTranslation(provider, from, context).encode(body, context);
              const isNew = way < 2 && (host === 'vertex' || isLate(model));
              const said = `${index} ${way} ${from} ${JSON.stringify(body)}`;
              expect(sent.body?.anthropic_version, said).toBe(isNew ? version : own);
              expect(refuseMessages(sent.body, { host, model }), said).toBeUndefined();
              if (!isNew && !isLate(model))
                expect(sent.body?.temperature ?? sent.body?.top_k, said).toBe(
                  sampling.temperature ?? sampling.top_k,
                );
            }
        }
    },
  );
});

describe('a native request to Claude', () => {
  it.each(models)(
    'to %s is served whatever it asks, and stays as it came where it was',
    (model) => {
      for (const ask of everyWayToAsk()) {
        const body = asked(model, ask);
        const { body: changed, dropped } = sent('anthropic', 'messages', body);
        expect(refuseMessages(changed ?? body), JSON.stringify(body)).toBeUndefined();
        const wasServed = refuseMessages(body) === undefined;
        expect(changed === undefined, JSON.stringify(body)).toBe(wasServed);
        expect(dropped.length === 0).toBe(wasServed);
      }
    },
  );

  it('names what changed, and says which members of its bytes that are', () => {
    const thinking = { type: 'enabled', budget_tokens: 5000 };
    const body = asked('claude-opus-5-5', {
      temperature: 0.2,
      thinking,
      output_config: { format: { type: 'json_schema', schema: {} } },
      tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    });
    const { edits, dropped } = sent('anthropic', 'messages', body);
    expect(dropped).toEqual(['thinking.budget_tokens', 'temperature', 'tool_choice']);
    expect(edits).toStrictEqual({
      thinking: { type: 'adaptive' },
      output_config: { format: { type: 'json_schema', schema: {} }, effort: 'medium' },
      temperature: undefined,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
  });

  it('stays as it came for models that are not listed', () => {
    for (const model of ['claude-opus-9', 'our-model', 'claude-sonnet-latest'])
      expect(
        sent('anthropic', 'messages', asked(model, { temperature: 0.2 })).body,
      ).toBeUndefined();
  });

  it('is told not to think at Bedrock, where a call is demanded of a model that thinks by itself', () => {
    const demand = { tool_choice: { type: 'any' } };
    const ask = (id: string, model: string, more: JsonObject = {}) =>
      sent(id, 'messages', asked(model, { ...demand, ...more }));
    const { body, dropped } = ask('bedrock', 'us.anthropic.claude-opus-5');
    expect(body).toMatchObject({ thinking: { type: 'disabled' }, ...demand });
    expect(dropped).toEqual([]);
    const adaptive = { thinking: { type: 'adaptive' } };
    const thinking = ask('bedrock', 'us.anthropic.claude-opus-5', adaptive);
    expect(thinking.body).toMatchObject({ thinking: { type: 'disabled' }, ...demand });
    expect(thinking.dropped).toEqual(['thinking']);
    expect(ask('bedrock', 'us.anthropic.claude-opus-5-5').dropped).toEqual(['tool_choice']);
    expect(ask('anthropic', 'claude-opus-5').body).toBeUndefined();
  });

  it('begins no thread where clouds run the model themselves, and goes on with none', () => {
    const thread = { type: 'create' };
    const going = { type: 'continue', previous_message_id: 'msg_1' };
    for (const [id, model] of [
      ['bedrock', 'us.anthropic.claude-opus-5-5'],
      ['vertex-ai', 'anthropic.claude-opus-5-5'],
      ['vertex-ai', 'anthropic.claude-opus-9'],
    ] as const) {
      const { body, dropped } = sent(id, 'messages', asked(model, { thread }));
      expect(body).not.toHaveProperty('thread');
      expect(dropped).toEqual(['thread']);
      expect(() => sent(id, 'messages', asked(model, { thread: going }))).toThrow(
        expect.objectContaining({ code: 'request.thread_not_found' }),
      );
    }
    const own = asked('claude-opus-5-5', { thread: going });
    expect(sent('anthropic', 'messages', own).body).toBeUndefined();
  });

  it('is counted as it would be sent', () => {
    const body = {
      model: 'claude-opus-4-7',
      messages,
      thinking: { type: 'enabled', budget_tokens: 9 },
    };
    expect(sent('anthropic', 'messagesCountTokens', body).body?.thinking).toEqual({
      type: 'adaptive',
    });
  });
});

describe('a native request of responses', () => {
  const reasoning = { effort: null, summary: 'auto' };
  const include = ['reasoning.encrypted_content', 'message.output_text.logprobs'];

  it('loses what is asked of reasoning where the model does not reason', () => {
    const body = { model: 'gpt-4.1', input: 'q', reasoning, include };
    const { edits, dropped } = sent('openai', 'createModelResponse', body);
    expect(dropped).toEqual(['reasoning.summary', 'include']);
    expect(edits).toStrictEqual({ reasoning: undefined, include: [include[1]] });
  });

  it('stays as it came where the model reasons, or nobody knows it', () => {
    for (const model of ['gpt-5.1', 'o4-mini', 'our-deployment'])
      expect(
        sent('openai', 'createModelResponse', { model, input: 'q', reasoning, include }).body,
      ).toBeUndefined();
  });
});
