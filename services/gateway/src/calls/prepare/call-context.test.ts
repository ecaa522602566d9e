import { setFlagsFromString } from 'node:v8';
import { findProvider } from '@sluice/providers';
import { expect, it } from 'vitest';
import type { ModelRequester } from '../../exchange/requester.ts';
import type { Target } from '../../exchange/target.ts';
import { contextOf } from './call-context.ts';

it('is no dictionary, which an accessor would make of it: a request took twice its CPU', () => {
  setFlagsFromString('--allow-natives-syntax');
  const isFast = new Function('object', 'return %HasFastProperties(object)');
  setFlagsFromString('--no-allow-natives-syntax');
  const context = () =>
    contextOf(
      {
        arrival: { startedAtMs: 1, requestId: Buffer.alloc(16), caller: { betas: [] } },
        subject: {},
        bundle: undefined,
      } as unknown as ModelRequester,
      { entry: findProvider('openai'), customHeaders: {}, planned: {} } as unknown as Target,
      {},
      { modelOverrides: {} } as never,
    );
  // The first of a kind may be fast whatever it is made of.
  expect([context(), context(), context()].map((each) => isFast(each))).toEqual([true, true, true]);
  expect(isFast(Object.create(null))).toBe(false);
});
