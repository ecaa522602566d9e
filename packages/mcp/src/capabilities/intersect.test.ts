import { JsonEdit } from '@sluice/json';
import { describe, expect, it } from 'vitest';
import { advertiseRelayed, clientCapabilities, serverCapabilities } from './intersect.ts';

const all = () => true;

describe('serverCapabilities', () => {
  const upstream = {
    tools: { listChanged: true, later: 1 },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    completions: {},
    experimental: { x: {} },
    extensions: { 'io.modelcontextprotocol/ui': {}, 'a/b': {} },
    unheard: {},
    prompts: true,
  };

  it('keeps what both can, and what goes through', () => {
    const { unheard, prompts, ...kept } = upstream;
    expect(serverCapabilities(upstream, all)).toEqual(kept);
    expect(
      serverCapabilities(upstream, (path) => path === 'resources' || path === 'tools'),
    ).toEqual({ tools: { later: 1 }, resources: {} });
  });

  it('tells of changes of lists that its server tells nothing of', () => {
    const quiet = { tools: {}, prompts: { listChanged: false }, completions: {} };
    const listChanged = true;
    expect(serverCapabilities(quiet, all)).toEqual({
      tools: { listChanged },
      prompts: { listChanged },
      completions: {},
    });
  });

  it('leaves out what policy blocks', () => {
    const blocked = serverCapabilities(
      upstream,
      all,
      (path) => path === 'logging' || path === 'extensions.a/b',
    );
    expect(blocked).not.toHaveProperty('logging');
    expect(blocked.extensions).toEqual({ 'io.modelcontextprotocol/ui': {} });
  });

  it.each([undefined, null, 'x', [], { constructor: {}, __proto__: {} }])(
    'makes nothing of %j',
    (value) => {
      expect(serverCapabilities(value as never, all)).toEqual({});
    },
  );
});

describe('advertiseRelayed', () => {
  const told = (result: string) => {
    const edit = new JsonEdit(Buffer.from(`{"result":${result}}`));
    advertiseRelayed(edit, JSON.parse(result));
    return edit.bytes().toString();
  };

  it.each([
    [
      '{"capabilities": { "tools" : {"later":1,"listChanged":true},"extensions":{} }, "serverInfo":{}}',
      undefined,
    ],
    ['{"capabilities":{"agents":{"run":true},"logging":{}}}', '{"capabilities":{"logging":{}}}'],
    [
      '{"capabilities":{"tools":{"listChanged":false},"prompts":true,"x":{}}}',
      '{"capabilities":{"tools":{"listChanged":true}}}',
    ],
    ['{"capabilities":{"resources":{}}}', '{"capabilities":{"resources":{"listChanged":true}}}'],
    ['{"capabilities":[1]}', undefined],
    ['{}', undefined],
  ])('makes of %s what can be relayed', (result, expected = result) => {
    expect(told(result)).toBe(`{"result":${expected}}`);
  });
});

describe('clientCapabilities', () => {
  it('tells a server only what can come back', () => {
    const client = {
      roots: { listChanged: true },
      sampling: { tools: {} },
      elicitation: { form: {}, url: {} },
    };
    expect(clientCapabilities(client, all)).toEqual(client);
    expect(
      clientCapabilities(
        client,
        (path) => path.startsWith('elicitation') && path !== 'elicitation.url',
      ),
    ).toEqual({ elicitation: { form: {} } });
    expect(clientCapabilities({}, all)).toEqual({});
  });
});
