import { expect, it } from 'vitest';
import { callFault } from './call-fault.ts';

it('has the reason of a call that failed, also of what it caused, and the stack of a fault of ours', () => {
  const failed = Object.assign(new Error('14 UNAVAILABLE: refused'), {
    code: 14,
    details: 'refused',
  });
  expect(callFault(failed)).toEqual({ reason: '14 UNAVAILABLE: refused' });
  expect(callFault(new Error('not fetched', { cause: failed }))).toEqual({
    reason: '14 UNAVAILABLE: refused',
  });
  for (const err of [new TypeError('ours'), 'text', undefined])
    expect(callFault(err)).toEqual({ err });
});
