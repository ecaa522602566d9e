import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Endpoint } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider, providerIds } from '../catalog.ts';
import type { JsonObject, JsonValue, WireFormat } from '../contract.ts';
import { findTranslation } from '../translation/find-translation.ts';
import { inCallersWords } from './callers-words.ts';

const schema = {
  type: 'object',
  properties: { a: { type: 'string', minLength: 2, pattern: '^x' } },
  required: ['a'],
};
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const pixelUrl = `data:image/png;base64,${pixel}`;
const image = { type: 'image_url', image_url: { url: pixelUrl, detail: 'low' } };
const pdf = 'JVBERi0xLjQK';
const marked = { cache_control: { type: 'ephemeral', ttl: '1h' } };
const args = '{"a":"xy"}';

interface Caller {
  endpoint: Endpoint;
  format: WireFormat;
  base: JsonObject;
  /** Each is asked alone, as one that is refused would hide the others, and those that agree together. */
  fields: JsonObject[];
  /** What encoders name and this format has no word for, so that nobody can have sent it. */
  wordless: string[];
}

const callers: Caller[] = [
  {
    endpoint: 'chatComplete',
    format: 'openai-chat',
    base: { messages: [{ role: 'user', content: 'x' }] },
    fields: [
      { temperature: 0.3, top_p: 0.4, top_k: 3, frequency_penalty: 0.1, presence_penalty: 0.1 },
      { logit_bias: { 1: 2 }, logprobs: true, top_logprobs: 2, seed: 4, user: 'u' },
      { stop: ['a', ' ', 'b', 'c', 'd', 'e', 'f'], max_tokens: 9_000_000, service_tier: 'odd' },
      { stop: ' ', max_completion_tokens: 9_000_000 },
      { max_completion_tokens: 4, metadata: { a: 'é' }, store: true, verbosity: 'low' },
      { reasoning_effort: 'xhigh' },
      { reasoning_effort: 'none' },
      { thinking: { type: 'enabled', budget_tokens: 900_000, display: 'omitted' } },
      { thinking: { type: 'between_tools' } },
      { thinking: { type: 'adaptive' } },
      { thinking: { type: 'disabled' } },
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', description: 'd', schema, strict: true },
        },
      },
      { response_format: { type: 'json_object', schema } },
      {
        tools: [
          {
            type: 'function',
            function: { name: 'f', parameters: schema, strict: true, odd: 1 },
            ...marked,
          },
          { type: 'web_search', filters: { allowed_domains: ['a'] } },
        ],
        tool_choice: { type: 'function', function: { name: 'f' } },
        parallel_tool_calls: false,
      },
      { tool_choice: 'auto', parallel_tool_calls: false },
      {
        functions: [{ name: 'f', parameters: schema, strict: true, odd: 1 }],
        function_call: { name: 'f' },
      },
      { function_call: 'auto' },
      {
        messages: [
          { role: 'system', content: 's', name: 'n' },
          {
            role: 'user',
            name: 'n',
            content: [
              { type: 'text', text: 'x', ...marked },
              image,
              {
                type: 'file',
                file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
              },
            ],
          },
          {
            role: 'assistant',
            content: 'y',
            refusal: 'no',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
          },
          { role: 'tool', tool_call_id: 'c', content: [image, { type: 'text', text: 'z' }] },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
          },
        ],
      },
    ],
    wordless: ['tool_choice.tools'],
  },
  {
    endpoint: 'complete',
    format: 'openai-completions',
    base: { prompt: 'x' },
    fields: [
      { temperature: 0.3, top_p: 0.4, top_k: 3, frequency_penalty: 0.1, presence_penalty: 0.1 },
      { logit_bias: { 1: 2 }, logprobs: 2, seed: 4, user: 'u' },
      { stop: ['a', ' ', 'b', 'c', 'd', 'e', 'f'], max_tokens: 9_000_000 },
      { stop: ' ', max_tokens: 4, odd: 1 },
    ],
    wordless: `parallel_tool_calls reasoning_effort response_format
      response_format.json_schema response_format.json_schema.description
      response_format.json_schema.strict service_tier thinking thinking.budget_tokens thinking.display
      thinking.type tool_choice tool_choice.tools tools`.split(/\s+/),
  },
  {
    endpoint: 'messages',
    format: 'anthropic-messages',
    base: { max_tokens: 2000, messages: [{ role: 'user', content: 'x' }] },
    fields: [
      { temperature: 0.3, top_p: 0.4, top_k: 3, metadata: { user_id: 'é', odd: 1 } },
      { metadata: { user_id: 'u' }, service_tier: 'auto', container: 'c', ...marked },
      { stop_sequences: ['a', ' ', 'b', 'c', 'd', 'e', 'f'], max_tokens: 9_000_000 },
      { max_tokens: 4 },
      { output_config: { effort: 'xhigh', odd: 1 } },
      { output_config: { effort: 'none' } },
      { thinking: { type: 'enabled', budget_tokens: 1500, display: 'omitted' } },
      { thinking: { type: 'between_tools' }, tools: [{ name: 'f', input_schema: schema }] },
      { thinking: { type: 'adaptive' } },
      { thinking: { type: 'disabled' } },
      { output_config: { format: { type: 'json_schema', schema } } },
      {
        tools: [
          { name: 'f', input_schema: schema, strict: true, eager_input_streaming: true, ...marked },
          { type: 'web_search_20250305', name: 'web_search', max_uses: 2 },
        ],
        tool_choice: { type: 'tool', name: 'f', disable_parallel_tool_use: true },
      },
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      {
        system: [{ type: 'text', text: 's', ...marked }],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x', ...marked },
              { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
              {
                type: 'document',
                title: 'a.pdf',
                context: 'c',
                citations: { enabled: true },
                source: { type: 'base64', media_type: 'application/pdf', data: pdf },
              },
            ],
          },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 't', signature: 's' },
              { type: 'redacted_thinking', data: 'd' },
              { type: 'text', text: 'y', citations: [{ type: 'char_location' }] },
              { type: 'tool_use', id: 'c', name: 'f', input: { a: 'xy' } },
            ],
          },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'z' }] },
            ],
          },
        ],
      },
    ],
    wordless: `frequency_penalty presence_penalty logit_bias logprobs top_logprobs seed
      response_format.json_schema.description response_format.json_schema.strict tool_choice.tools`.split(
      /\s+/,
    ),
  },
  {
    endpoint: 'createModelResponse',
    format: 'openai-responses',
    base: { input: 'x' },
    fields: [
      { temperature: 0.3, top_p: 0.4, top_k: 3, frequency_penalty: 0.1, presence_penalty: 0.1 },
      { include: ['message.output_text.logprobs'] },
      { top_logprobs: 2, user: 'u', service_tier: 'odd', truncation: 'auto', max_tool_calls: 3 },
      { max_output_tokens: 9_000_000, metadata: { a: 'é' }, text: { verbosity: 'low' } },
      { reasoning: { effort: 'xhigh', summary: 'auto', odd: 1 } },
      { reasoning: { effort: 'none' } },
      { reasoning: { summary: 'auto' } },
      { thinking: { type: 'enabled', budget_tokens: 900_000, display: 'omitted' } },
      { thinking: { type: 'between_tools' } },
      { thinking: { type: 'disabled' } },
      {
        text: {
          format: { type: 'json_schema', name: 'n', description: 'd', schema, strict: true },
        },
      },
      {
        tools: [
          { type: 'function', name: 'f', parameters: schema, strict: true, odd: 1 },
          {
            type: 'namespace',
            name: 'n',
            tools: [{ type: 'function', name: 'g', strict: true, parameters: schema }],
          },
          { type: 'web_search', filters: { allowed_domains: ['a'] } },
        ],
        tool_choice: { type: 'function', name: 'f' },
        parallel_tool_calls: false,
      },
      {
        tools: [
          { type: 'function', name: 'f', parameters: schema },
          { type: 'function', name: 'g', parameters: schema },
        ],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'f' }],
        },
      },
      { tool_choice: 'auto', parallel_tool_calls: false },
      {
        instructions: 'i',
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'x' },
              { type: 'input_image', image_url: pixelUrl, detail: 'low' },
              {
                type: 'input_file',
                filename: 'a.pdf',
                file_data: `data:application/pdf;base64,${pdf}`,
              },
            ],
          },
          {
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: 't' }],
            encrypted_content: 'sluice:signature:s',
          },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: args },
          {
            type: 'function_call_output',
            call_id: 'c',
            output: [
              { type: 'input_text', text: 'z' },
              { type: 'input_image', image_url: pixelUrl },
            ],
          },
        ],
      },
    ],
    wordless: 'logit_bias seed stop'.split(' '),
  },
];

const models =
  `m claude-sonnet-4-5 claude-opus-4-7 claude-fable-5-1 gpt-4.1 gpt-5.1-codex o3 gemini-2.5-flash
  gemini-3.6-flash amazon.nova-pro-v1:0 anthropic.claude-sonnet-4-5-v1:0 mistral.mistral-large-2407-v1:0
  cohere.command-r-plus-08-2024 meta.llama-3.3-70b-instruct command-a-03-2025 grok-4.3 glm-4.6
  chat-bison-001`.split(/\s+/);

/** What stands at a path of dots and brackets. */
function valueAt(body: JsonValue, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = body;
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== ''))
    value = (value as Record<string, JsonValue> | null | undefined)?.[key];
  return value;
}

/** It is a path of the body, or a message of the body and what that has a member or a part of. */
function isOfBody(name: string, body: JsonObject): boolean {
  if (valueAt(body, name) !== undefined) return true;
  const [, path, inside] = /^((?:messages|input)(?:\[\d+\])?|system)\.(.+)$/.exec(name) ?? [];
  if (path === undefined || inside === undefined) return false;
  // An answer is one of the caller's messages, of which items may be several.
  const from = body.input === undefined ? valueAt(body, path) : body.input;
  const told = JSON.stringify(from ?? null);
  return inside.split('.').every((word) => told.includes(`"${word}"`));
}

describe.each(callers)('what is left out of a request of $format', (caller) => {
  it('has names of the request itself, whoever is asked', () => {
    const seen = new Set<string>();
    for (const id of providerIds())
      for (const model of models)
        for (const fields of caller.fields) {
          const body: JsonObject = { ...caller.base, ...fields, model };
          for (const name of dropped(id, body, caller.endpoint)) {
            expect([name, isOfBody(name, body)], `${id} ${JSON.stringify(body)}`).toEqual([
              name,
              true,
            ]);
            seen.add(name);
          }
        }
    expect(seen.size).toBeGreaterThan(caller.endpoint === 'complete' ? 5 : 20);
  });

  it('has a word for each that encoders have, or no way to ask for it', () => {
    const whole = [...encodersWords()];
    expect(whole).toContain('stop');
    const isWordless = (name: string) =>
      !caller.fields.some((fields) => {
        const body = { ...caller.base, ...fields };
        return inCallersWords(caller.format, body, [name]).every((own) => isOfBody(own, body));
      });
    expect(whole.filter(isWordless).sort()).toEqual([...caller.wordless].sort());
  });
});

function dropped(id: string, body: JsonObject, endpoint: Endpoint): string[] {
  const provider = findProvider(id)!;
  const context = contextFor(provider, true, { model: String(body.model), request: body });
  try {
    const translation = findTranslation(provider, endpoint, context);
    return translation.mode === 'native' ? [] : translation.encode(body, context).dropped;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [];
  }
}

/** The names of fields that stand as such in the encoders' sources. */
function encodersWords(): Set<string> {
  const found = new Set<string>();
  const natively =
    /(?:without-foreign|fit-to-model|forget-thread|decode-[a-z-]+|callers-words)\.ts$/;
  for (const file of readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts') || natively.test(file)) continue;
    const source = readFileSync(join(import.meta.dirname, file), 'utf8');
    if (!source.includes('dropped')) continue;
    for (const line of source.split('\n'))
      if (
        /dropped\.push\(|^ +\['[a-z_.]+', .*(?:request|reasoning|format)[.?]|^ +'response_format|path = 'response_format/.test(
          line,
        )
      )
        for (const [, name] of line.matchAll(/(?<![=!]= )'([a-z_.]+)'/g)) found.add(name!);
  }
  // A value, not a name.
  found.delete('omitted');
  return found;
}
