import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  contextFor,
  everywhere,
  fixtures,
  insideCharacters,
  play,
  pretty,
  someFixtures,
} from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject } from '../../contract.ts';
import { objectOf } from '../../json/json-access.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const oracle = findProvider('oracle')!;
const chat = findTranslation(oracle, 'chatComplete');
const messages = findTranslation(oracle, 'messages');
const compartment = { 'oracle-compartment-id': 'ocid1.compartment.oc1..a' };

function contextWith(settings: Record<string, string> = compartment) {
  return contextFor(oracle, true, { setting: (name) => settings[name] });
}

const asked = someFixtures(
  'openai-chat',
  'request',
  'basic',
  'tools',
  'multimodal',
  'json-schema',
  'thinking',
  'unsupported-fields',
);

describe('requests', () => {
  for (const model of ['meta.llama-3.3-70b-instruct', 'cohere.command-r-plus-08-2024']) {
    for (const fixture of asked) {
      // The start of an answer cannot be put into Cohere's mouth: see below.
      if (model.startsWith('cohere.') && fixture.name === 'unsupported-fields') continue;
      it(`asks ${model} ${fixture.name}, with what was dropped`, async () => {
        const encoded = chat.encode({ ...fixture.json(), model }, contextWith());
        const file = `${model.split('.')[0]}.${fixture.name}.request.json`;
        await expect(pretty(encoded)).toMatchFileSnapshot(
          join(import.meta.dirname, 'fixtures/golden', file),
        );
      });
    }
  }

  const conversation: JsonObject = {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: 'a',
            type: 'function',
            function: { name: 'weather', arguments: '{"city":"Bern"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: '21 degrees' },
    ],
  };

  it('answers Cohere’s calls by what they were', () => {
    const { body } = chat.encode({ ...conversation, model: 'cohere.command-r' }, contextWith());
    expect(body?.chatRequest).toEqual({
      apiFormat: 'COHERE',
      message: '',
      preambleOverride: 'Be brief.',
      chatHistory: [
        { role: 'USER', message: 'Weather?' },
        {
          role: 'CHATBOT',
          message: '',
          toolCalls: [{ name: 'weather', parameters: { city: 'Bern' } }],
        },
      ],
      toolResults: [
        {
          call: { name: 'weather', parameters: { city: 'Bern' } },
          outputs: [{ result: '21 degrees' }],
        },
      ],
    });
  });

  it('answers others’ calls by their ids', () => {
    const { body } = chat.encode({ ...conversation, model: 'meta.llama' }, contextWith());
    expect(objectOf(body?.chatRequest)?.messages).toEqual([
      { role: 'SYSTEM', content: [{ type: 'TEXT', text: 'Be brief.' }] },
      { role: 'USER', content: [{ type: 'TEXT', text: 'Weather?' }] },
      {
        role: 'ASSISTANT',
        content: [],
        toolCalls: [{ id: 'a', type: 'FUNCTION', name: 'weather', arguments: '{"city":"Bern"}' }],
      },
      { role: 'TOOL', toolCallId: 'a', content: [{ type: 'TEXT', text: '21 degrees' }] },
    ]);
  });

  it('asks a dedicated endpoint by its id, in the format that a setting tells', () => {
    const settings = {
      'oracle-tenancy': 'ocid1.tenancy.oc1..t',
      'oracle-serving-mode': 'dedicated',
      'oracle-api-format': 'cohere',
    };
    const asked = {
      model: 'ocid1.generativeaiendpoint.oc1..e',
      messages: [{ role: 'user', content: 'x' }],
    };
    expect(chat.encode(asked, contextWith(settings)).body).toEqual({
      compartmentId: 'ocid1.tenancy.oc1..t',
      servingMode: { servingType: 'DEDICATED', endpointId: 'ocid1.generativeaiendpoint.oc1..e' },
      chatRequest: { apiFormat: 'COHERE', message: 'x' },
    });
  });

  it('gives models that think a limit that counts it', () => {
    const asked = { model: 'openai.gpt-5', messages: [], max_tokens: 9 };
    expect(chat.encode(asked, contextWith()).body?.chatRequest).toMatchObject({
      maxCompletionTokens: 9,
    });
  });

  it.each([
    [{}, 'provider.setting_missing', 'x-service-oracle-compartment-id'],
    [
      { ...compartment, 'oracle-serving-mode': 'both' },
      'provider.setting_invalid',
      'x-service-oracle-serving-mode',
    ],
  ])('refuses settings %j', (settings, code, field) => {
    const asked = { model: 'meta.llama', messages: [] };
    expect(() => chat.encode(asked, contextWith(settings as Record<string, string>))).toThrow(
      expect.objectContaining({ code, field }),
    );
  });

  it.each([
    [{ messages: [] }, 'body.messages'],
    [{ messages: [{ role: 'assistant', content: 'I' }] }, 'body.messages'],
    [{ messages: [{ role: 'user', content: 'x' }], n: 2 }, 'body.n'],
    [
      { messages: [{ role: 'tool', tool_call_id: 'z', content: '' }] },
      'body.messages[0].tool_call_id',
    ],
  ])('refuses for Cohere %j', (body, field) => {
    expect(() => chat.encode({ ...body, model: 'cohere.command-r' }, contextWith())).toThrow(
      expect.objectContaining({ code: 'request.invalid_field', field }),
    );
  });
});

describe('replies', () => {
  const head = { status: 200, headers: { 'opc-request-id': 'A1/B2/C3' } };
  for (const fixture of fixtures('oci-chat', 'response')) {
    it(`tells ${fixture.name} to callers of both formats`, async () => {
      for (const [name, call] of Object.entries({ openai: chat, anthropic: messages })) {
        const { body, facts } = call.decode(fixture.bytes, contextWith(), head);
        expect(facts.id).toBe('A1/B2/C3');
        await expect(pretty({ body: JSON.parse(String(body)), facts })).toMatchFileSnapshot(
          fixture.golden(`${name}.json`),
        );
      }
    });
  }

  it.each(['', '{}', '{"chatResponse":{}}', '{"choices":[]}'])('refuses %j', (text) => {
    expect(() => chat.decode(Buffer.from(text), contextWith(), head)).toThrow(
      expect.objectContaining({ code: 'upstream.invalid_response' }),
    );
  });
});

describe('errors', () => {
  for (const fixture of fixtures('oci-chat', 'error')) {
    it(`tells a caller of chat of ${fixture.name}`, async () => {
      const status = Number(fixture.name.split('.').at(-1));
      const { body } = chat.decodeError(status, fixture.bytes, contextWith());
      await expect(pretty(JSON.parse(String(body)))).toMatchFileSnapshot(
        fixture.golden('openai.json'),
      );
    });
  }
});

describe('streams', () => {
  for (const fixture of fixtures('oci-chat', 'stream')) {
    for (const [name, call] of Object.entries({ openai: chat, anthropic: messages })) {
      it(`tells ${fixture.name} to a caller of ${name} the same however it is cut`, async () => {
        const open = () => call.openStream(contextWith(), { model: 'm' });
        const whole = play(open(), fixture.bytes, []);
        await expect(whole.bytes.toString()).toMatchFileSnapshot(fixture.golden(`${name}.txt`));
        const { facts, fault } = whole;
        const { phases } = play(open(), fixture.bytes, everywhere(fixture.bytes));
        await expect(pretty({ phases, facts, fault })).toMatchFileSnapshot(
          fixture.golden('facts.json'),
        );
        for (const cuts of [everywhere(fixture.bytes), insideCharacters(fixture.bytes)]) {
          const again = play(open(), fixture.bytes, cuts);
          expect(again.bytes.equals(whole.bytes)).toBe(true);
          expect(again.facts).toEqual(whole.facts);
        }
      });
    }
  }

  it('fails on garbage, and never throws', () => {
    for (const text of ['data: {oops\n\n', '<html>\n\n']) {
      const played = play(chat.openStream(contextWith(), {}), Buffer.from(text), []);
      expect(played.phases.at(-1)).toBe('failed');
    }
  });
});
