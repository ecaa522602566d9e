import { refuseConverse, refuseMessages } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import type { JsonObject } from '../../contract.ts';
import { claude } from '../../models/claude.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const models = claude.rows
  .map(({ facts }) => facts.model)
  .filter((model) => /\d-|preview|-\d/.test(model));
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

const tool = {
  type: 'function',
  function: {
    name: 'look',
    parameters: { type: 'object', properties: { at: { type: 'string' } } },
  },
};
const strictTool = { ...tool, function: { ...tool.function, strict: true } };
const user = { role: 'user', content: 'What is in the folder?' };
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 't1', type: 'function', function: { name: 'look', arguments: '{}' } }],
};
const result = { role: 'tool', tool_call_id: 't1', content: 'a.txt' };
const answered = { role: 'assistant', content: 'One file.' };
const system = { role: 'system', content: 'Be brief.' };
const later = { role: 'developer', content: 'From now on, answer in French.' };
const loop = { messages: [user, called, result], tools: [tool] };

const rich = {
  type: 'object',
  properties: {
    age: { type: 'integer', minimum: 0, maximum: 130 },
    code: { type: 'string', pattern: '^[A-Z]+$', maxLength: 4 },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3, minItems: 2 },
    shape: {
      oneOf: [
        { type: 'string', format: 'uri' },
        { type: 'number', not: { const: 4 } },
      ],
    },
    properties: { type: 'object', properties: { type: { type: 'string', format: 'regex' } } },
    any: {
      type: 'object',
      properties: {},
      enum: [{ type: 'object' }],
      default: { type: 'object' },
    },
  },
};
const map = { type: 'object', additionalProperties: { type: 'number' } };
const recursive = { type: 'object', properties: { next: { $ref: '#' } } };
const schemaOf = (schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema } },
});

/** What callers of chat ask, whatever the model. */
const cases: Record<string, object> = {
  'all of sampling': { temperature: 0.2, top_p: 0.5, top_k: 4 },
  'sampling beyond the bounds': { temperature: 1.7 },
  'the defaults of sampling': { temperature: 1, top_p: 1 },
  'sampling beside an effort': { temperature: 0, top_p: 0.9, top_k: 4, reasoning_effort: 'low' },
  'more tokens than there are': { max_tokens: 1_000_000 },
  'few tokens and much thought': { max_tokens: 1100, reasoning_effort: 'high' },
  'a tool by name': {
    tools: [tool],
    tool_choice: { type: 'function', function: { name: 'look' } },
  },
  'any tool': { tools: [tool], tool_choice: 'required' },
  'any tool beside an effort': { tools: [tool], tool_choice: 'required', reasoning_effort: 'high' },
  'any tool and no thought': { tools: [tool], tool_choice: 'required', reasoning_effort: 'none' },
  'no tool': { tools: [tool], tool_choice: 'none' },
  'a choice without tools': { tool_choice: 'auto' },
  'strict tools': { tools: Array(25).fill(strictTool) },
  'a strict tool with a rich schema': {
    tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: rich } }],
  },
  'a strict tool that takes a map': {
    tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: map } }],
  },
  'a rich schema': schemaOf(rich),
  'a schema of a map': schemaOf(map),
  'a schema within itself': schemaOf(recursive),
  'a loop whose thought was lost': { ...loop, reasoning_effort: 'high' },
  'a loop with a budget whose thought was lost': {
    ...loop,
    thinking: { type: 'enabled', budget_tokens: 2000 },
  },
  'the start of an answer': { messages: [user, answered] },
  'the start of an answer beside an effort': {
    messages: [user, answered],
    reasoning_effort: 'low',
  },
  'instructions in the middle': { messages: [system, user, answered, later, user] },
  'instructions at the end': { messages: [system, user, answered, user, later] },
  'a tool that a search would find': {
    tools: [{ ...tool, function: { ...tool.function, defer_loading: true } }],
  },
  'a tool for programs alone': {
    tools: [{ ...tool, function: { ...tool.function, allowed_callers: ['programmatic'] } }],
  },
  'instructions behind an answer': { messages: [system, user, answered, later] },
  'instructions within a loop': { ...loop, messages: [system, user, called, later, result] },
  'instructions behind results': { ...loop, messages: [system, user, called, result, later] },
  'instructions one after the other': {
    messages: [user, later, later, answered, later, later, user],
  },
  ...Object.fromEntries(
    efforts.map((effort) => [`effort ${effort}`, { reasoning_effort: effort }]),
  ),
  ...Object.fromEntries(
    ['enabled', 'adaptive', 'disabled', 'between_tools'].flatMap((type) => [
      [`thinking ${type}`, { thinking: { type } }],
      [`thinking ${type}, shown`, { thinking: { type, display: 'summarized' }, tools: [tool] }],
      [`thinking ${type} beside an effort`, { thinking: { type }, reasoning_effort: 'max' }],
    ]),
  ),
  ...Object.fromEntries(
    [100, 1024, 30_000, 200_000].flatMap((budget_tokens) => [
      [`a budget of ${budget_tokens}`, { thinking: { type: 'enabled', budget_tokens } }],
      [
        `a budget of ${budget_tokens} within 2,000 tokens`,
        { thinking: { type: 'enabled', budget_tokens }, max_tokens: 2000 },
      ],
    ]),
  ),
};

const hosts: [id: string, model: (name: string) => string, refuse: typeof refuseConverse][] = [
  ['anthropic', (name) => name, (_, body) => refuseMessages(body)],
  ['azure-ai', (name) => name, (_, body) => refuseMessages(body, { host: 'azure' })],
  [
    'vertex-ai',
    (name) => `anthropic.${name}`,
    (model, body) => refuseMessages(body, { host: 'vertex', model }),
  ],
  ['bedrock', (name) => `us.anthropic.${name}-v1:0`, refuseConverse],
];

describe.each(hosts)('what %s is asked by callers of chat', (id, modelAt, refuse) => {
  const provider = findProvider(id)!;
  const settings: Record<string, string> = {
    'azure-foundry-url': 'https://a.services.ai.azure.com',
  };
  const setting = (name: string) => settings[name];

  it.each(Object.entries(cases))('is taken by every model: %s', (_, asked) => {
    for (const name of models) {
      const model = modelAt(name);
      const context = contextFor(provider, true, { model, setting });
      const call = findTranslation(provider, 'chatComplete', context);
      const { body } = call.encode({ model, messages: [user], ...asked } as JsonObject, context);
      expect([name, refuse(model, body)]).toEqual([name, undefined]);
    }
  });
});
