import { GatewayError } from '@sluice/errors';
import { expect, it } from 'vitest';
import { isUnimplemented } from './is-unimplemented.ts';

it('is told by the code of a call, and of nothing else that is thrown', () => {
  expect(isUnimplemented(Object.assign(new Error('12 UNIMPLEMENTED'), { code: 12 }))).toBe(true);
  // What the other side told has no cause.
  const { cause } = new GatewayError('internal');
  for (const other of [{ code: 14 }, new GatewayError('internal'), cause, null, 'gone'])
    expect(isUnimplemented(other)).toBe(false);
});
