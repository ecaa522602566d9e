import type { JsonObject, JsonValue } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { isDrawn, isPlainName, saysSomething, withoutNames } from './hidden-names.ts';

const uuid = '0b5f3ac1-6f0e-4c5e-9d0e-2a4b6c8d0e1f';

describe('what of a message is given to checks', () => {
  it('is what is said, and names that say something', () => {
    const parts: JsonValue[] = [
      { kind: 'text', text: 'text' },
      { kind: 'data', data: { id: uuid, kind: 'text' } },
      { kind: 'something else', id: uuid },
    ];
    const document: JsonObject = {
      jsonrpc: '2.0',
      id: uuid,
      params: {
        message: {
          kind: 'message',
          role: 'user',
          messageId: uuid,
          contextId: 'in words',
          referenceTaskIds: [uuid, 'other words'],
          parts,
          metadata: { id: uuid, role: 'user' },
        },
      },
    };
    expect(withoutNames(document, isDrawn)).toEqual({
      jsonrpc: null,
      id: null,
      params: {
        message: {
          kind: null,
          role: null,
          messageId: null,
          contextId: 'in words',
          referenceTaskIds: [null, 'other words'],
          parts: [
            { kind: null, text: 'text' },
            { kind: null, data: { id: uuid, kind: 'text' } },
            { kind: 'something else', id: uuid },
          ],
          metadata: { id: uuid, role: 'user' },
        },
      },
    });
  });

  it('is nothing where only a task is named', () => {
    const said = (id: JsonValue) =>
      saysSomething(withoutNames({ jsonrpc: '2.0', id: 7, params: { id } }, isPlainName));
    expect([said('task-1'), said('a task'), said({ x: 'y' })]).toEqual([false, true, true]);
    expect(saysSomething({ 'a name in words': 1 })).toBe(true);
  });

  it('keeps members of any name', () => {
    const document = JSON.parse('{"__proto__":{"a":"b"}}');
    expect(JSON.stringify(withoutNames(document, isDrawn))).toBe('{"__proto__":{"a":"b"}}');
  });
});
