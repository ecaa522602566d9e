import { describe, expect, it } from 'vitest';
import { endOf, followedWork, lookPathOf } from './followed-work.ts';
import { matchObject } from './match-object.ts';
import { endpoints, objectOperations } from './operations.ts';

const making = (kind: string) => {
  const found = [...endpoints, ...objectOperations]
    .flatMap(({ objects }) => objects?.makes ?? [])
    .find((made) => made.kind === kind && made.follow !== undefined);
  if (found === undefined) throw new Error(`nothing makes a ${kind}`);
  return found;
};

describe('work that is followed', () => {
  it('is looked at by an operation of the table that reads, and is the same wherever it is made', () => {
    for (const { objects } of [...endpoints, ...objectOperations])
      for (const { kind, follow } of objects?.makes ?? [])
        if (follow !== undefined) expect(followedWork.get(kind), kind).toBe(follow);
    for (const [kind, { look, ended }] of followedWork) {
      const [method = '', path = ''] = look.split(' ');
      const found = matchObject(method, path.replaceAll(/:(\w+)/g, 'x'));
      expect(found?.operation.at, kind).toBe(look);
      expect(found?.operation.repeat).toBe('safe');
      expect(ended.length).toBeGreaterThan(0);
    }
  });

  it('has the path that its document tells', () => {
    const run = { id: 'run_1', thread_id: 'thread/1', status: 'queued' };
    expect(lookPathOf(making('run'), run)).toBe('/v1/threads/thread%2F1/runs/run_1');
    const response = { id: 'resp_1', status: 'queued', background: true };
    expect(lookPathOf(making('response'), response)).toBe('/v1/responses/resp_1');
  });

  it('is none where nothing goes on, or where no path leads to it', () => {
    const response = { id: 'resp_1', status: 'queued', background: true };
    for (const over of [
      { background: false },
      { background: 'true' },
      { status: 'completed' },
      { id: '' },
      { id: '..' },
      { id: 7 },
      { id: 'x'.repeat(2000) },
    ])
      expect(lookPathOf(making('response'), { ...response, ...over })).toBeUndefined();
    expect(lookPathOf(making('run'), { id: 'run_1', status: 'queued' })).toBeUndefined();
    expect(lookPathOf({ id: 'id' }, response)).toBeUndefined();
  });

  it('has ended when its document says so, and in no other case', () => {
    const { follow } = making('run');
    const states = ['expired', 'requires_action', undefined, 7];
    expect(states.map((status) => follow && endOf(follow, { status }))).toEqual([
      'expired',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
