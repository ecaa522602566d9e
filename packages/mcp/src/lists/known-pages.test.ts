import { describe, expect, it } from 'vitest';
import type { Who } from '../access/decide.ts';
import { compileServer, type ServerRules } from '../access/server-view.ts';
import { type McpResponse, messageBounds, readMessage } from '../envelope/read-message.ts';
import { McpFault } from '../fault.ts';
import { PinMemory } from '../pins/pin-of.ts';
import { filterList } from './filter-list.ts';
import { KnownPages } from './known-pages.ts';
import { listKinds } from './list-kinds.ts';

const kind = listKinds[0]!;
const row = { type: 'tool', pin: '', description: '', fixedArguments: undefined, enabled: true };
const rules: ServerRules = {
  enabled: true,
  usersAllowed: true,
  userAccess: {},
  capabilities: [
    { ...row, name: 'drop', enabled: false, renamedTo: '', hiddenArguments: [] },
    { ...row, name: 'add', renamedTo: 'sum', hiddenArguments: ['key'] },
  ],
  allowsNew: true,
  onDrift: 'alert',
  access: [],
  deniedAs: 'disabled',
};
const view = compileServer(rules);
const who: Who = { key: undefined, userId: 'u', metadata: {}, claims: undefined };
const options = { kind, pins: new PinMemory(), isModern: false, ttlMsMax: 0 };
const result =
  '{ "tools":[{"name":"add","inputSchema":{"properties":{"key":{},"n":{}}}},{"name":"drop"}],"_meta":{"x":1}}';
const page = (id: string, text = result) =>
  Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${text}}`);
const plainly = (bytes: Buffer) => readMessage(bytes, messageBounds.upstream);

describe('KnownPages', () => {
  it('reads a page again as it would be read anew, whatever is around it', () => {
    const pages = new KnownPages();
    const first = pages.read('a', page('1'));
    for (const bytes of [
      page('1'),
      page('"result"'),
      Buffer.from(`{"result" : ${result},"id":7.0,"more":[1],"jsonrpc":"2.0"} `),
      page('2', result.replace('"n"', '"m"')),
    ]) {
      const again = pages.read('a', bytes);
      expect(again).toEqual(plainly(bytes));
      expect(again.bytes.equals(bytes)).toBe(true);
    }
    // The last one was another page, and stands in the place of the first.
    const other = pages.read('a', page('3')) as McpResponse;
    expect(other.result).not.toBe((first as McpResponse).result);
    const same = pages.read('a', page('44')) as McpResponse;
    expect(same.result).toBe(other.result);
  });

  it.each([
    ['more behind it', `{"jsonrpc":"2.0","id":1,"result":${result}} x`],
    ['a part of it only', `{"jsonrpc":"2.0","id":1,"result":${result}`],
    ['a second one', `{"jsonrpc":"2.0","id":1,"result":${result},"result":{}}`],
    ['another spelling', `{"jsonrpc":"2.0","id":1,"Result":1,"result":${result}}`],
    ['an error beside it', `{"jsonrpc":"2.0","id":1,"error":1,"result":${result}}`],
    ['text in front', `"result":${result}`],
    ['another level', `{"jsonrpc":"2.0","id":1,"x":{"result":${result}}}`],
    ['no version', `{"id":1,"result":${result}}`],
    ['bytes that are no text', `{"jsonrpc":"2.0","id":1,"x":"\xff","result":${result}}`],
  ])('refuses a known page with %s as it always did', (_, text) => {
    const pages = new KnownPages();
    pages.read('a', page('1'));
    const bytes = Buffer.from(text, 'latin1');
    const faultOf = (read: () => unknown) => {
      try {
        return read();
      } catch (error) {
        expect(error).toBeInstanceOf(McpFault);
        return (error as McpFault).message;
      }
    };
    const told = faultOf(() => plainly(bytes));
    expect(typeof told).toBe('string');
    expect(faultOf(() => pages.read('a', bytes))).toBe(told);
  });

  it('shows a page again as it would be filtered anew, and by other rules anew', () => {
    const pages = new KnownPages();
    const callers: Who[] = [who, { ...who, userId: 'v' }, { ...who, metadata: { team: 'x' } }];
    const views = [
      view,
      compileServer({ ...rules, capabilities: [] }),
      compileServer({
        ...rules,
        access: [{ rules: [{ effect: 'deny', query: { 'metadata.team': 'x' } }] }],
      }),
    ];
    for (let round = 0; round < 3; round += 1)
      for (const rulesNow of views)
        for (const caller of callers)
          for (const isModern of [false, true]) {
            const bytes = page(String(round));
            const reply = pages.read('a', bytes) as McpResponse;
            const anew = filterList(rulesNow, caller, plainly(bytes) as McpResponse, {
              ...options,
              isModern,
            });
            expect(pages.filter(rulesNow, caller, reply, { ...options, isModern })).toEqual(anew);
          }
  });

  it('keeps no more than its share', () => {
    const pages = new KnownPages();
    const large = result.replace('"x":1', `"x":"${'x'.repeat(700_000)}"`);
    const read = (place: string) => (pages.read(place, page('1', large)) as McpResponse).result;
    const first = read('a');
    expect(read('a')).toBe(first);
    for (const place of ['b', 'c']) read(place);
    expect(read('a')).not.toBe(first);
  });
});
