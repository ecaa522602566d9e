import { expect, it } from 'vitest';
import { storedId, uuidOfStored } from './stored-ids.ts';

it('an id of ours names its UUID, and none of a provider does', () => {
  const uuid = '0190a0b0-0000-7000-8000-00000000abcd';
  const id = storedId('file', uuid);
  expect(id).toBe('file-svc_0190a0b000007000800000000000abcd');
  expect(uuidOfStored('file', id)).toBe(uuid);
  for (const other of [storedId('batch', uuid), 'file-abc', `${id}0`, id.toUpperCase(), uuid, ''])
    expect(uuidOfStored('file', other)).toBeUndefined();
});
