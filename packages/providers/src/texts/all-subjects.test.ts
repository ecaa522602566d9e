import type { JsonObject } from '@sluice/contracts';
import type { CheckSubject } from '@sluice/contracts/checks';
import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { textsOf } from './texts-of.ts';

const chat: JsonObject = {
  model: 'm',
  messages: [
    { role: 'system', content: 'rules' },
    { role: 'user', content: [{ type: 'text', text: 'first' }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        {
          id: 'c',
          type: 'function',
          function: { name: 'f', arguments: '{"to":"bo\\u0062","n":[41]}' },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c', content: '{"mail":"b@x.de"}' },
    { role: 'user', content: 'last' },
  ],
  tools: [{ type: 'function', function: { name: 'f', description: 'sends' } }],
};

const anthropic: JsonObject = {
  system: [{ type: 'text', text: 'rules' }],
  messages: [
    { role: 'user', content: 'first' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't', name: 'f', input: { to: 'bob', n: 41 } }],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: 'b@x.de' }] },
        { type: 'text', text: 'last' },
      ],
    },
  ],
  tools: [{ name: 'f', description: 'sends', input_schema: { type: 'object' } }],
};

const responses: JsonObject = {
  instructions: 'rules',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'first' }] },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"to":"bob","n":41}' },
    { type: 'function_call_output', call_id: 'c', output: 'b@x.de' },
    { role: 'user', content: 'last' },
  ],
  tools: [{ type: 'function', name: 'f', description: 'sends' }],
};

function partsOf(
  endpoint: 'chatComplete' | 'messages' | 'createModelResponse',
  request: JsonObject,
) {
  return (...subjects: CheckSubject[]) =>
    textsOf({ event: 'beforeRequest', endpoint, request, response: undefined }, subjects);
}

describe.each([
  ['chatComplete', chat],
  ['messages', anthropic],
  ['createModelResponse', responses],
] as const)('subjects of %s', (endpoint, request) => {
  const texts = partsOf(endpoint, request);

  it('are what they are called', () => {
    expect(texts('last_message').parts).toEqual(['last']);
    expect(texts('system').parts).toEqual(['rules']);
    expect(texts('conversation').parts).toEqual(['first', 'last']);
    expect(texts('tool_calls').parts).toEqual(expect.arrayContaining(['bob', '41']));
    expect(texts('tool_results').parts).toEqual(['b@x.de']);
    expect(texts('tools').parts).toContain('sends');
    expect(texts('tool_results', 'last_message').parts).toEqual(['b@x.de', 'last']);
    expect(texts('all').parts).toEqual(
      expect.arrayContaining(['rules', 'first', 'bob', 'sends', 'last']),
    );
  });

  it('are replaced where they stand, and nothing else is', () => {
    const before = JSON.stringify(request);
    const { parts, replace } = texts('tool_calls', 'tool_results');
    const changed = replace(
      parts.map((part) => (part === 'bob' || part === 'b@x.de' ? 'X' : null)),
    );
    expect(JSON.stringify(request)).toBe(before);
    const after = partsOf(endpoint, changed);
    expect(after('tool_calls').parts).toEqual(['X', '41']);
    expect(after('tool_results').parts).toEqual(['X']);
    expect(after('conversation').parts).toEqual(['first', 'last']);
  });
});

it('what tools said is the last message where nothing stands behind it, in every format', () => {
  const results = { type: 'tool_result', content: [{ type: 'text', text: 'b@x.de' }] };
  const asked = { role: 'user', content: 'first' };
  const item = { type: 'function_call_output', call_id: 't', output: 'b@x.de' };
  const messages: JsonObject = { messages: [asked, { role: 'user', content: [results] }] };
  const chat: JsonObject = { messages: [asked, { role: 'tool', content: 'b@x.de' }] };
  const responses: JsonObject = { input: [asked, item] };
  for (const [endpoint, body] of [
    ['messages', messages],
    ['chatComplete', chat],
    ['createModelResponse', responses],
  ] as const)
    expect(partsOf(endpoint, body)('last_message').parts).toEqual(['b@x.de']);
});

describe('all texts of a body', () => {
  const all = (request: JsonObject) => partsOf('chatComplete', request)('all');

  it('have no pictures among them, but words that pretend to be one', () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } };
    const words = { type: 'image_url', image_url: { url: 'data:image/png;base64,not base64' } };
    const source = { type: 'base64', media_type: 'image/png', data: 'aGVsbG8=' };
    const document = { type: 'base64', media_type: 'text/plain', data: 'aGVsbG8=' };
    expect(all({ a: [image, words, { source }, { source: document }] }).parts).toEqual(
      expect.arrayContaining(['data:image/png;base64,not base64', 'aGVsbG8=']),
    );
    expect(all({ a: [image, { source }] }).parts).not.toContain('aGVsbG8=');
  });

  it('have pictures among them that are texts: drawn in words, named as texts, or said to be', () => {
    const base64 = Buffer.from('<svg>a secret</svg>').toString('base64');
    const files: JsonObject[] = [
      { url: `data:image/svg+xml;base64,${base64}` },
      { filename: 'notes.txt', file_data: `data:image/png;base64,${base64}` },
    ];
    for (const file of files) expect(all({ a: file }).parts).toContain('<svg>a secret</svg>');
    const source = { type: 'text', media_type: 'image/png', data: 'secret' };
    expect(all({ source }).parts).toContain('secret');
  });

  it('have names among them that are more than names', () => {
    const request = { tools: { 'how to do it': 1, plain: 2 } };
    const { parts, replace } = all(request);
    expect(parts).toEqual(['how to do it']);
    expect(replace(['x'])).toEqual({ tools: { x: 1, plain: 2 } });
  });

  it('have names among them that the caller gives: of arguments, of members of schemas', () => {
    const parameters = {
      type: 'object',
      properties: { secret_word: { type: 'object', properties: { properties: {} } } },
    };
    const { parts } = all({
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
      messages: [
        { role: 'assistant', tool_calls: [{ function: { arguments: '{"a@b.de":{"deep":1}}' } }] },
      ],
      metadata: { mine: 'x' },
    });
    expect(parts).toEqual(
      expect.arrayContaining(['secret_word', 'a@b.de', 'deep', '1', 'mine', 'x']),
    );
    expect(parts).not.toContain('parameters');
    expect(parts).not.toContain('arguments');
    const input = [{ role: 'assistant', content: [{ type: 'tool_use', input: { card: 4111 } }] }];
    expect(all({ messages: input }).parts).toEqual(expect.arrayContaining(['card', '4111']));
  });

  it('have what a file of text in base64 says among them, and put it back as one', () => {
    const said = Buffer.from('a secret').toString('base64');
    const url = `data:text/plain;charset=utf-8;base64,${said}`;
    const pdf = Buffer.from([0x25, 0x50, 0x44, 0x46, 0x0a, 0xe2, 0xe3]).toString('base64');
    const request = {
      a: { file: { file_data: url } },
      b: { inlineData: { mimeType: 'text/plain', data: said } },
      c: { document: { format: 'txt', source: { bytes: said } } },
      d: { media_type: 'application/pdf', data: pdf },
      // A2A 1.0.
      e: { mediaType: 'text/plain', raw: said },
      f: { mediaType: 'image/png', raw: pdf },
    };
    const { parts, replace } = all(request);
    expect(parts.filter((part) => part === 'a secret')).toHaveLength(4);
    expect(all({ f: request.f }).parts).not.toContain(pdf);
    const other = Buffer.from('a word').toString('base64');
    expect(replace(parts.map((part) => (part === 'a secret' ? 'a word' : null)))).toEqual({
      a: { file: { file_data: `data:text/plain;charset=utf-8;base64,${other}` } },
      b: { inlineData: { mimeType: 'text/plain', data: other } },
      c: { document: { format: 'txt', source: { bytes: other } } },
      d: request.d,
      e: { mediaType: 'text/plain', raw: other },
      f: request.f,
    });
  });

  const secret = Buffer.from('a secret');
  const inBase64 = secret.toString('base64');
  it.each<[string, JsonObject]>([
    ['percent signs', { file_data: 'data:text/plain,%61%20secret' }],
    ['percent signs, of no type', { file_data: 'data:,%61%20secret' }],
    ['percent signs around base64', { file_data: `data:;base64,${inBase64.replace('=', '%3D')}` }],
    ['a name of any signs', { file_data: `data:text/plain;name="a%20b.txt" ;BASE64,${inBase64}` }],
    ['lines', { mimeType: 'text/plain', data: inBase64.replace(/(.{5})/g, '$1\r\n') }],
    ['spaces', { format: 'txt', bytes: inBase64.replace(/(.{3})/g, '$1 ') }],
    ['what is no base64', { file_data: `data:text/plain;base64,!${inBase64}` }],
    [
      'UTF-16',
      {
        mimeType: 'text/plain',
        data: Buffer.from('\ufeffa secret', 'utf16le').toString('base64'),
      },
    ],
    [
      'UTF-16 the other way',
      {
        file_data: `data:text/plain;base64,${Buffer.from('\ufeffa secret', 'utf16le').swap16().toString('base64')}`,
      },
    ],
    [
      'UTF-16 that nothing tells',
      { media_type: 'text/csv', data: Buffer.from('a secret', 'utf16le').toString('base64') },
    ],
  ])('have files among them that are written with %s', (_how, file) => {
    const { parts, replace } = all({ a: file });
    expect(parts).toContain('a secret');
    const [member = ''] = Object.keys(file).filter((name) => /data|bytes/.test(name));
    const changed = replace(parts.map((part) => part.replaceAll('secret', 'word')));
    const { [member]: written } = changed.a as Record<string, string>;
    expect(written).toMatch(new RegExp(`(?:^|;base64,)${btoa('a word')}$`));
  });

  it('have files among them that have a byte which is none of text', () => {
    const data = Buffer.concat([secret, Buffer.from([0xe9, 0x00])]).toString('base64');
    const files: JsonObject[] = [
      { file_data: `data:text/plain;base64,${data}` },
      { file_data: `data:application/octet-stream;base64,${data}`, filename: 'notes.TXT' },
      { mimeType: 'application/json', data },
      { document: { format: 'md', source: { bytes: data } } },
    ];
    for (const file of files) expect(all({ a: file }).parts.join()).toContain('a secret');
    expect(all({ a: { media_type: 'application/pdf', data } }).parts).not.toContain('a secret');
  });

  it('are replaced in time that grows with them', () => {
    const request = { input: Array.from({ length: 50_000 }, (_, index) => `text ${index}`) };
    const { parts, replace } = all(request);
    const spentMs = ownTime();
    replace(parts.map(() => 'x'));
    expect(spentMs()).toBeLessThan(2_000);
  });
});

it('calls of tools have arguments of any name, also those of items', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"name":"bob"}' };
  expect(partsOf('createModelResponse', { input: [call] })('tool_calls').parts).toEqual(['bob']);
});

it('programs, what came of them, and what a server is asked for and has are what they are', () => {
  const input: JsonObject[] = [
    {
      type: 'mcp_list_tools',
      id: 'l',
      server_label: 's',
      tools: [{ name: 'f', description: 'sends' }],
    },
    { type: 'program', id: 'p', call_id: 'c', code: 'await send("bob")', fingerprint: 'x' },
    { type: 'program_output', id: 'o', call_id: 'c', result: 'b@x.de', status: 'completed' },
    {
      type: 'mcp_approval_request',
      id: 'a',
      name: 'f',
      server_label: 's',
      arguments: '{"to":"eve"}',
    },
    { type: 'mcp_approval_response', approval_request_id: 'a', approve: false, reason: 'no' },
  ];
  const texts = partsOf('createModelResponse', { input });
  expect(texts('tools').parts).toEqual(['sends']);
  expect(texts('tool_calls').parts).toEqual(['await send("bob")', 'eve']);
  expect(texts('tool_results').parts).toEqual(['b@x.de']);
  expect(texts('conversation').parts).toEqual(['no']);
  const replaced = texts('tool_results').replace(['x']);
  expect(replaced).toEqual({ input: input.with(2, { ...input[2], result: 'x' } as JsonObject) });
});

it('tools that a conversation brings on its way are tools', () => {
  const found = { type: 'tool_search_output', tools: [{ type: 'function', description: 'found' }] };
  const brought = {
    type: 'additional_tools',
    tools: [{ type: 'namespace', tools: [{ type: 'custom', description: 'sends' }] }],
  };
  const input = [brought, found, { role: 'user', content: 'last' }];
  expect(partsOf('createModelResponse', { input })('tools').parts).toEqual(['sends', 'found']);
  const definition = { name: 'f', description: 'sends', input_schema: {} };
  const added = { type: 'tool_addition', tool: { type: 'tool_definition', definition } };
  const messages = [{ role: 'system', content: [added] }];
  expect(partsOf('messages', { messages })('tools').parts).toEqual(['sends']);

  const compaction = { type: 'compaction', content: 'So far.', tool_changes: [added] };
  const compacted = partsOf('messages', {
    messages: [
      { role: 'assistant', content: [compaction] },
      { role: 'user', content: 'last' },
    ],
  });
  expect(compacted('tools').parts).toEqual(['sends']);
  expect(compacted('conversation').parts).toEqual(['So far.', 'last']);
  const { replace } = compacted('tools');
  expect(JSON.stringify(replace(['x']))).toContain('"description":"x"');
});
