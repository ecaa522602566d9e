import { createServiceKey, hashServiceKey } from '@sluice/contracts';
import { expect, it } from 'vitest';
import { givenKey } from './given-key.ts';

const pepper = Buffer.alloc(32, 1);

it('takes a key that is one, and names the variable of one that is none without its value', () => {
  const key = createServiceKey('sl_');
  expect(givenKey('ADMIN_KEY', key, pepper)?.().hash).toEqual(hashServiceKey(key, pepper));
  expect(givenKey('ADMIN_KEY', undefined, pepper)).toBeUndefined();
  expect(() => givenKey('ADMIN_KEY', 'hunter2', pepper)).toThrow('ADMIN_KEY is no service key');
  expect(() => givenKey('ADMIN_KEY', 'hunter2', pepper)).not.toThrow('hunter2');
});
