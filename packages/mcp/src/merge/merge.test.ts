import { randomBytes } from 'node:crypto';
import { ListToolsResultSchema } from '@modelcontextprotocol/core';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type McpResponse, messageBounds, readMessage } from '../envelope/read-message.ts';
import { listKindOf, type listKinds } from '../lists/list-kinds.ts';
import { createSealer } from '../sealing/sealer.ts';
import {
  memberUri,
  mergedUri,
  openMemberId,
  openPageCursor,
  sealMemberId,
  sealPageCursor,
} from './member-ids.ts';
import { itemsOfPage, joinItems } from './merge-pages.ts';
import { callableName, type MemberName, mergeNames, type PrefixRule } from './merged-names.ts';

const named = (...texts: string[]): MemberName[] =>
  texts.map((text) => {
    const [member = '', name = ''] = text.split('/');
    return { member, name };
  });
const shown = (members: string[], rule: PrefixRule, ...texts: string[]) => {
  const entries = named(...texts);
  const names = mergeNames(members, entries, rule);
  return entries.map((entry) => names.exposed(entry)?.replace(/[0-9a-f]{15}$/, '#'));
};

describe('mergeNames', () => {
  it.each<[PrefixRule, string[], (string | undefined)[]]>([
    ['always', ['a/x', 'b/x', 'b/y'], ['a_x', 'b_x', 'b_y']],
    ['on_collision', ['a/x', 'b/x', 'b/y'], ['a_x', 'b_x', 'y']],
    ['never', ['b/x', 'a/x', 'b/y'], [undefined, 'x', 'y']],
    ['on_collision', ['a/get.it', 'b/y'], ['get_it', 'y']],
    ['on_collision', ['a/get.it', 'a/get_it'], ['get_it_#', 'get_it']],
    ['on_collision', ['a/get.it', 'b/get_it'], ['a_get_it', 'b_get_it']],
    ['never', ['a/get.it', 'b/get_it'], ['get_it_#', 'get_it']],
    ['always', ['a/b_c', 'a_b/c'], ['a_b_c_#', 'a_b_c_#']],
    ['on_collision', ['a/x', 'b/x', 'c/a_x'], ['a_x_#', 'b_x', 'a_x_#']],
    [
      'never',
      [`a/${'x'.repeat(64)}`, `b/${'y'.repeat(65)}`],
      ['x'.repeat(64), `${'y'.repeat(48)}_#`],
    ],
    ['always', ['a/x_0123456789abcde', 'z/q'], ['a_x_0123456789abcde_#', undefined]],
    ['on_collision', ['a/日本', 'a/中国'], ['___#', '___#']],
  ])('%s: %j', (rule, texts, expected) => {
    expect(shown(['a', 'b', 'c', 'a_b'], rule, ...texts)).toEqual(expected);
  });

  const member = fc.constantFrom('a', 'b', 'a_b', 'c-d');
  const name = fc.oneof(
    fc.constantFrom(
      'x',
      'b_x',
      'a_b_x',
      'x.y',
      'x_y',
      'x/y',
      'é',
      '__proto__',
      'constructor',
      'y'.repeat(64),
      'y'.repeat(65),
      '',
      'x_0123456789abcde',
    ),
    fc.string({ unit: 'binary', maxLength: 80 }),
  );
  const entries = fc.array(fc.record({ member, name }), { maxLength: 30 });
  const rule = fc.constantFrom<PrefixRule>('always', 'on_collision', 'never');
  const members = ['a', 'b', 'a_b', 'c-d'];

  it('gives a name that two of one member want to the one whose own it is', () => {
    const list = [
      { member: 'a', name: 'x' },
      { member: 'a_b', name: 'a_b_x' },
      { member: 'a_b', name: 'x' },
    ];
    for (const entries of [list, list.toReversed()]) {
      const names = mergeNames(members, entries, 'on_collision');
      expect(names.owner('a_b_x')).toEqual({ member: 'a_b', name: 'a_b_x' });
    }
  });

  it('gives each a callable name that is nobody else’s, in whatever order they came', () => {
    fc.assert(
      fc.property(entries, rule, (list, prefix) => {
        const names = mergeNames(members, list, prefix);
        const reversed = mergeNames(members, [...list].reverse(), prefix);
        const taken = new Map<string, string>();
        for (const entry of list) {
          const exposed = names.exposed(entry);
          expect(reversed.exposed(entry)).toBe(exposed);
          if (prefix !== 'never') expect(exposed).toBeDefined();
          if (exposed === undefined) continue;
          expect(exposed).toMatch(callableName);
          const key = JSON.stringify([entry.member, entry.name]);
          expect(taken.get(exposed) ?? key).toBe(key);
          taken.set(exposed, key);
          expect(names.owner(exposed)).toEqual(entry);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('gives no member another’s name for a tool that it adds, unless members come first (never)', () => {
    fc.assert(
      fc.property(
        entries,
        fc.record({ member, name }),
        fc.constantFrom<PrefixRule>('always', 'on_collision'),
        (list, added, prefix) => {
          const before = mergeNames(members, list, prefix);
          const after = mergeNames(members, [...list, added], prefix);
          for (const entry of list) {
            const exposed = before.exposed(entry) as string;
            const owner = after.owner(exposed);
            // It is theirs as before, or nobody's.
            if (owner !== undefined) expect(owner.member).toBe(entry.member);
          }
        },
      ),
      { numRuns: 2000 },
    );
  });
});

describe('ids of members', () => {
  const sealer = createSealer([randomBytes(32)]);

  it('open for their server and kind alone', () => {
    const text = sealMemberId(sealer, 'cursor', 's1', { member: 'm', id: 'c/1' });
    expect(openMemberId(sealer, 'cursor', 's1', text)).toEqual({ member: 'm', id: 'c/1' });
    expect(openMemberId(sealer, 'cursor', 's2', text)).toBeUndefined();
    expect(openMemberId(sealer, 'task', 's1', text)).toBeUndefined();
    expect(openMemberId(sealer, 'cursor', 's1', 'c/1')).toBeUndefined();
  });

  it('cursors open for their list and caller alone', () => {
    const text = sealPageCursor(sealer, 's', 'tools/list', 'me', {
      member: 'm',
      cursor: undefined,
    });
    expect(openPageCursor(sealer, 's', 'tools/list', 'me', text)).toEqual({
      member: 'm',
      cursor: undefined,
    });
    expect(openPageCursor(sealer, 's', 'prompts/list', 'me', text)).toBeUndefined();
    expect(openPageCursor(sealer, 's', 'tools/list', 'you', text)).toBeUndefined();
    expect(openPageCursor(sealer, 's', 'tools/list', 'me', '')).toBeUndefined();
  });

  it('URIs name their member, each in one way', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.string(), (member, uri) => {
        expect(memberUri(mergedUri(member, uri))).toEqual({ member, uri });
      }),
    );
    expect(mergedUri('docs', 'file:///a/{x}')).toBe('mcp-member://docs/file:///a/{x}');
    for (const uri of [
      'file:///a',
      'mcp-member://',
      'mcp-member://a',
      'mcp-member://%61/x',
      'mcp-member://%/x',
      'MCP-MEMBER://a/x',
    ])
      expect(memberUri(uri), uri).toBeUndefined();
  });
});

describe('joinItems', () => {
  const kind = listKindOf('tools/list') as (typeof listKinds)[number];
  const page = (text: string) =>
    readMessage(Buffer.from(text), messageBounds.upstream) as McpResponse;
  const pages = [
    page(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[ {"name":"a","inputSchema":{"type":"object"},"x":1.50} , {"name":"b","inputSchema":{"type":"object"}}]}}',
    ),
    page('{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}'),
    page(
      '{"jsonrpc":"2.0","id":3,"result":{"nextCursor":"n","tools":[{"name":"c","inputSchema":{"type":"object"}}]}}',
    ),
  ];

  it('keeps the bytes of each item and their order', () => {
    const items = pages.flatMap((each) => itemsOfPage(each, kind));
    const bytes = items.map((item) => item.bytes);
    const joined = joinItems(bytes, kind, '"i"', { nextCursor: 'c"1' });
    expect(items.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
    expect(joined.toString()).toBe(
      '{"jsonrpc":"2.0","id":"i","result":{"tools":[{"name":"a","inputSchema":{"type":"object"},"x":1.50},{"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}}],"nextCursor":"c\\"1"}}',
    );
    expect(ListToolsResultSchema.parse(JSON.parse(joined.toString()).result).tools).toHaveLength(3);
  });

  it('tells modern callers that it is theirs alone', () => {
    const { result } = JSON.parse(joinItems([], kind, '1', { hints: { ttlMs: 0 } }).toString());
    expect(result).toEqual({ tools: [], resultType: 'complete', cacheScope: 'private', ttlMs: 0 });
  });
});
