import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, type Who } from '../access/decide.ts';
import { compileServer, type ServerRules } from '../access/server-view.ts';
import {
  isObject,
  type McpResponse,
  messageBounds,
  readMessage,
} from '../envelope/read-message.ts';
import { filterList } from '../lists/filter-list.ts';
import { listKinds } from '../lists/list-kinds.ts';
import { hostileDefinitions } from './hostile-definitions.ts';
import { PinMemory, pinOf } from './pin-of.ts';

const who: Who = { key: undefined, userId: undefined, metadata: {}, claims: undefined };
const server = (over: Partial<ServerRules>) =>
  compileServer({
    enabled: true,
    usersAllowed: true,
    userAccess: {},
    capabilities: [],
    allowsNew: true,
    onDrift: 'block',
    access: [],
    deniedAs: 'disabled',
    ...over,
  });

describe('pinOf', () => {
  const value = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });

  it('is the same for what says the same, however it is written', () => {
    fc.assert(
      fc.property(value, (definition) => {
        const text = JSON.stringify(definition, null, 2).replaceAll('o', '\\u006f');
        const turned = Object.fromEntries(
          Object.entries(JSON.parse(JSON.stringify(definition))).reverse(),
        );
        const known = pinOf(JSON.parse(JSON.stringify(definition)));
        expect(pinOf(turned as never)).toBe(known);
        // An escape within an escape is another text.
        if (!JSON.stringify(definition).includes('\\')) expect(pinOf(JSON.parse(text))).toBe(known);
      }),
    );
  });

  it('is another for anything else, in members that nobody knows too', () => {
    fc.assert(
      fc.property(value, value, (one, other) => {
        const texts = [one, other].map((entry) =>
          JSON.stringify(JSON.parse(JSON.stringify(entry)), sorted),
        );
        const pins = [one, other].map((entry) => pinOf(JSON.parse(JSON.stringify(entry))));
        expect(pins[0] === pins[1]).toBe(texts[0] === texts[1]);
      }),
    );
  });

  it('pages are remembered by their bytes and kind, and no more of them than may be', () => {
    const pins = new PinMemory(2);
    let reads = 0;
    const page = (kind: string, name: string) =>
      pins.page(kind, Buffer.from(name), () => {
        reads++;
        return { items: [], unusable: [name.length] };
      }).unusable[0];
    expect([page('tools', 'a'), page('tools', 'a'), page('prompts', 'a'), reads]).toEqual([
      1, 1, 1, 2,
    ]);
    page('tools', 'bb');
    page('tools', 'ccc');
    page('tools', 'a');
    expect(reads).toBe(5);
  });
});

function sorted(_: string, value: unknown): unknown {
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
}

describe('what was changed after it was approved', () => {
  const cases = hostileDefinitions.flatMap(([what, definition, , type = 'tool']) => {
    const kind = listKinds.find((entry) => entry.type === type);
    return kind === undefined || !isObject(definition) ? [] : [[what, definition, kind] as const];
  });

  it.each(cases)('%s is told, and with block neither listed nor called', (_, definition, kind) => {
    const name = String(definition[kind.field]);
    const harmless = { [kind.field]: name, description: 'As it was.' };
    const row = {
      type: kind.type,
      name,
      enabled: true,
      pin: pinOf(harmless),
      renamedTo: '',
      description: '',
      fixedArguments: undefined,
      hiddenArguments: [],
    };
    const reply = readMessage(
      Buffer.from(
        JSON.stringify({ jsonrpc: '2.0', id: 1, result: { [kind.member]: [definition] } }),
      ),
      messageBounds.upstream,
    ) as McpResponse;
    const options = { kind, pins: new PinMemory(), isModern: false, ttlMsMax: 0 };
    const blocking = server({ capabilities: [row] });
    const { bytes, hidden } = filterList(blocking, who, reply, options);
    expect(JSON.parse(bytes.toString()).result[kind.member]).toEqual([]);
    expect(hidden).toEqual([{ name, reason: 'definition_changed' }]);
    for (const hash of [pinOf(definition), undefined])
      expect(decide(blocking, who, { type: kind.type, name, arguments: {}, hash }).allowed).toBe(
        false,
      );
    // Under another name it is new, and held as well.
    const fresh = decide(server({}), who, {
      type: kind.type,
      name,
      arguments: {},
      hash: pinOf(definition),
    });
    expect(fresh).toMatchObject({ allowed: false, reason: 'definition_new' });
    const told = filterList(server({ capabilities: [row], onDrift: 'alert' }), who, reply, options);
    expect(told.drifted).toEqual([name]);
  });
});
