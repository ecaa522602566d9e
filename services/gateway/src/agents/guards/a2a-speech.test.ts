import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { a2aSpeech } from './a2a-speech.ts';

const heard = (event: JsonObject) =>
  a2aSpeech
    .hear(event)
    .pieces.map(({ text, key, isWhole, path }) => [
      text,
      isWhole === true ? 'whole' : key,
      path.join('.'),
    ]);

describe('what an event of an agent says', () => {
  it('is its texts, of which artifacts and messages go on', () => {
    const artifact: JsonObject = {
      artifactId: 'a-1',
      parts: [{ kind: 'text', text: 'one' }, { data: { b: 'two' } }],
    };
    expect(
      heard({
        jsonrpc: '2.0',
        id: 'call-1',
        result: { kind: 'artifact-update', taskId: 't', contextId: 'c', artifact },
      }),
    ).toEqual([
      ['one', expect.stringMatching(/^artifact \d+$/), 'result.artifact.parts.0.text'],
      ['b', 'whole', 'result.artifact.parts.1.data.b'],
      ['two', 'whole', 'result.artifact.parts.1.data.b'],
    ]);
    const message: JsonObject = { role: 'ROLE_AGENT', messageId: 'm', parts: [{ text: 'three' }] };
    expect(
      heard({
        statusUpdate: {
          taskId: 't',
          status: { state: 'TASK_STATE_WORKING', timestamp: '2026-01-01T00:00:00Z', message },
        },
      }),
    ).toEqual([['three', 'message', 'statusUpdate.status.message.parts.0.text']]);
    expect(heard({ result: { kind: 'task', history: [message], artifacts: [artifact] } })).toEqual([
      ['three', 'whole', 'result.history.0.parts.0.text'],
      ['one', 'whole', 'result.artifacts.0.parts.0.text'],
      ['b', 'whole', 'result.artifacts.0.parts.1.data.b'],
      ['two', 'whole', 'result.artifacts.0.parts.1.data.b'],
    ]);
  });

  it('goes on with the texts of its own artifact, of several that are told at a time', () => {
    const keyOf = (artifactId: string) =>
      heard({ artifactUpdate: { artifact: { artifactId, parts: [{ text: 'x' }] } } })[0]?.[1];
    expect(keyOf('a')).toBe(keyOf('a'));
    expect(keyOf('a')).not.toBe(keyOf('b'));
    const names = Array.from({ length: 5000 }, (_, at) => keyOf(`artifact-${at}`));
    expect(new Set(names).size).toBeLessThan(1000);
  });

  it('is the numbers in data, and no others', () => {
    const parts = [{ kind: 'data', data: { card: 4111, of: [1.5] } }];
    expect(heard({ code: 7, message: { parts, metadata: { usage: { tokens: 3 } } } })).toEqual([
      ['card', 'whole', 'message.parts.0.data.card'],
      ['4111', 'whole', 'message.parts.0.data.card'],
      ['of', 'whole', 'message.parts.0.data.of'],
      ['1.5', 'whole', 'message.parts.0.data.of.0'],
      ['usage', 'whole', 'message.metadata.usage'],
    ]);
    expect(heard({ Parts: [{ Data: [8] }] }).length).toBe(1);
  });

  it('is the names of members that are the speaker’s own, or more than names; nothing takes their place', () => {
    const event = { a: 1, 'more than a name': 2, metadata: { b: { c: 3 } }, parts: [{ data: {} }] };
    const { pieces } = a2aSpeech.hear(event);
    expect(pieces.map(({ text, isFixed }) => [text, isFixed])).toEqual([
      ['more than a name', true],
      ['b', true],
    ]);
  });

  it('is whatever stands in the place of a name, a label or a time', () => {
    const said = {
      kind: 'a word',
      role: 'bob',
      state: 'in words',
      timestamp: 'at noon',
      taskId: 'a b',
    };
    expect(heard(said).map(([text]) => text)).toEqual(Object.values(said));
    expect(heard({ error: { code: 1, message: 'no' } })).toEqual([
      ['no', 'whole', 'error.message'],
    ]);
    const own = heard({ metadata: { id: 'x' }, parts: [{ data: { id: 'y' } }] });
    expect(own.map(([text]) => text)).toEqual(['id', 'x', 'id', 'y']);
  });

  it('is no bytes of files, unless they are words', () => {
    const file = (bytes: string) => ({ parts: [{ kind: 'file', file: { bytes } }] });
    expect(heard(file('aGVsbG8='))).toEqual([]);
    expect(heard(file('in words, not base64')).length).toBe(1);
  });

  it('is over with the last event', () => {
    const last = { result: { kind: 'status-update', final: true } };
    expect(a2aSpeech.hear(last).closes?.({ key: 'message', kind: 'said', choice: 0 })).toBe(true);
    expect(a2aSpeech.hear({ result: {} }).closes).toBeUndefined();
  });
});
