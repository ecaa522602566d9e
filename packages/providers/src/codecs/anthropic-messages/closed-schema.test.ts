import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject } from '../../contract.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { closedSchema } from './closed-schema.ts';

function close(schema: object) {
  const moved: string[] = [];
  return { schema: closedSchema(schema as JsonObject, 's', moved), moved };
}

const text = { type: 'string' };

describe('a schema for constrained answers', () => {
  it('closes every object, and tells in words what cannot be held', () => {
    const { schema, moved } = close({
      type: 'object',
      required: ['age'],
      properties: {
        age: { type: 'integer', minimum: 0, description: 'In years' },
        code: { type: 'string', pattern: '^[A-Z]+$', format: 'regex' },
        tags: { type: 'array', items: text, maxItems: 3, minItems: 1 },
        inner: { type: 'object', properties: { at: { type: 'string', format: 'uri' } } },
      },
    });
    expect(schema).toEqual({
      type: 'object',
      additionalProperties: false,
      required: ['age'],
      properties: {
        age: { type: 'integer', description: 'In years\nMust hold: minimum: 0.' },
        code: { type: 'string', description: 'Must hold: pattern: "^[A-Z]+$"; format: "regex".' },
        tags: { type: 'array', items: text, minItems: 1, description: 'Must hold: maxItems: 3.' },
        inner: {
          type: 'object',
          additionalProperties: false,
          properties: { at: { type: 'string', format: 'uri' } },
        },
      },
    });
    expect(moved).toEqual([
      's.properties.age.minimum',
      's.properties.code.pattern',
      's.properties.code.format',
      's.properties.tags.maxItems',
    ]);
  });

  it('is told as a whole where nothing but values that cannot be listed says what fits', () => {
    for (const p of [{ enum: [{ a: 1 }] }, { const: [1] }, { enum: ['a', { b: 1 }] }])
      expect(
        close({ type: 'object', properties: { p } }).schema,
        JSON.stringify(p),
      ).toBeUndefined();
    const typed = { type: 'array', items: text, const: ['x'] };
    expect(close({ type: 'object', properties: { typed } }).moved).toEqual([
      's.properties.typed.const',
    ]);
  });

  it('takes one of several for any of them, and tells what must not be', () => {
    expect(close({ oneOf: [text, { type: 'number', not: { const: 4 } }] })).toEqual({
      schema: { anyOf: [text, { type: 'number', description: 'Must hold: not: {"const":4}.' }] },
      moved: ['s.oneOf[1].not'],
    });
  });

  it('takes properties for what they are, whatever they are called', () => {
    const properties = { properties: text, type: text, items: text, minimum: { type: 'number' } };
    expect(close({ type: 'object', properties })).toEqual({
      schema: { type: 'object', properties, additionalProperties: false },
      moved: [],
    });
  });

  it('leaves values alone that look like schemas', () => {
    const value = { type: 'object', properties: { minimum: 1 } };
    const { schema, moved } = close({
      type: 'object',
      properties: { a: { type: 'object', properties: {}, default: value, enum: [value] } },
    });
    expect(schema).toMatchObject({
      properties: {
        a: { default: value, description: `Must hold: enum: ${JSON.stringify([value])}.` },
      },
    });
    expect(moved).toEqual(['s.properties.a.enum']);
    expect(close({ const: { type: 'object' }, type: 'object', properties: {} }).moved).toEqual([
      's.const',
    ]);
  });

  it('follows definitions, and closes them', () => {
    const address = { type: 'object', properties: { street: text } };
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/address' }, b: { $ref: '#/$defs/address' } },
      $defs: { address },
    };
    expect(close(schema).schema).toMatchObject({
      $defs: { address: { ...address, additionalProperties: false } },
    });
  });

  const open: [what: string, schema: object][] = [
    ['a map', { type: 'object', additionalProperties: { type: 'number' } }],
    ['an object of anything', { type: 'object' }],
    ['an object of anything within', { type: 'array', items: { type: 'object' } }],
    [
      'a map behind a definition',
      {
        type: 'object',
        properties: { a: { $ref: '#/$defs/m' } },
        $defs: { m: { type: 'object', additionalProperties: true } },
      },
    ],
    ['a schema within itself', { type: 'object', properties: { next: { $ref: '#' } } }],
    ['anything', { type: 'object', properties: { a: {} } }],
    ['patterns of names', { type: 'object', properties: {}, patternProperties: { a: text } }],
  ];
  it.each(open)('is not made of %s, which would be answered empty', (_, schema) => {
    expect(close(schema)).toEqual({ schema: undefined, moved: [] });
  });

  it('is found open or not at once, however often its definitions are used', () => {
    const $defs: Record<string, object> = { d0: text };
    for (let n = 1; n < 200; n++) {
      const $ref = `#/$defs/d${n - 1}`;
      $defs[`d${n}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } };
    }
    expect(close({ $ref: '#/$defs/d199', $defs }).schema).toBeDefined();
  });
});

const nested = { type: 'object', properties: { age: { type: 'integer', minimum: 0 } } };
const map = { type: 'object', additionalProperties: { type: 'number' } };

function ask(id: string, model: string, more: object) {
  const provider = findProvider(id)!;
  const context = contextFor(provider, true, { model });
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], ...more } as never;
  const { body: sent, dropped } = findTranslation(provider, 'chatComplete', context).encode(
    body,
    context,
  );
  return { sent: sent as JsonObject, dropped };
}

function answered(schema: object): object {
  const json_schema = { name: 'person', schema };
  return { response_format: { type: 'json_schema', json_schema } };
}

describe('an answer by a schema', () => {
  it('is held to what Claude can be held to, and the rest is named', () => {
    const { sent, dropped } = ask('anthropic', 'claude-opus-5', answered(nested));
    expect(sent.output_config).toMatchObject({
      format: { type: 'json_schema', schema: { additionalProperties: false } },
    });
    expect(dropped).toEqual(['response_format.json_schema.schema.properties.age.minimum']);
  });

  it.each([
    ['anthropic', 'claude-opus-5', map],
    ['anthropic', 'claude-3-5-haiku', nested],
    ['bedrock', 'amazon.nova-pro-v1:0', nested],
    ['bedrock', 'meta.llama3-3-70b-instruct-v1:0', nested],
  ])('is asked for in words where it cannot be held: %s, %s', (id, model, schema) => {
    const { sent, dropped } = ask(id, model, answered(schema));
    expect(sent).not.toHaveProperty('output_config');
    expect(sent).not.toHaveProperty('outputConfig');
    expect(JSON.stringify(sent.system)).toContain(
      JSON.stringify(JSON.stringify(schema)).slice(1, -1),
    );
    expect(dropped).toEqual(['response_format.json_schema']);
  });
});

describe('a strict tool', () => {
  const tool = (parameters: object) => ({
    tools: [{ type: 'function', function: { name: 'f', strict: true, parameters } }],
  });

  it('is strict to Claude, by a closed schema', () => {
    const { sent, dropped } = ask('anthropic', 'claude-sonnet-4-5', tool(nested));
    expect(sent.tools).toMatchObject([
      { name: 'f', strict: true, input_schema: { additionalProperties: false } },
    ]);
    expect(dropped).toEqual(['tools[0].function.parameters.properties.age.minimum']);
    const bedrock = ask('bedrock', 'anthropic.claude-sonnet-4-5-v1:0', tool(nested)).sent;
    expect(bedrock.toolConfig).toMatchObject({
      tools: [
        { toolSpec: { strict: true, inputSchema: { json: { additionalProperties: false } } } },
      ],
    });
  });

  it('keeps its schema and is named where it cannot be', () => {
    for (const [id, model, schema] of [
      ['anthropic', 'claude-sonnet-4-0', nested],
      ['anthropic', 'claude-opus-5', map],
    ] as const) {
      const { sent, dropped } = ask(id, model, tool(schema));
      expect(sent.tools).toEqual([{ name: 'f', input_schema: schema }]);
      expect(dropped).toEqual(['tools[0].function.strict']);
    }
    const nova = ask('bedrock', 'amazon.nova-pro-v1:0', tool(nested));
    expect(nova.sent.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'f', inputSchema: { json: nested } } }],
    });
    expect(nova.dropped).toEqual(['tools[0].function.strict']);
  });
});
