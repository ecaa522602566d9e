import { GatewayError } from '@sluice/errors';
import { expect, it } from 'vitest';
import { exampleBundle } from '../../test/exchange.ts';
import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import { withPlan } from './managed-plan.ts';

const body = { completion_window: '24h', endpoint: '/v1/chat/completions' };
const headers = { 'x-service-provider': '@fresh' };
const before = exampleBundle({ providers: [] });
const since = exampleBundle({
  providers: [
    { slug: 'fresh', provider: 'openai', status: 'active', allowAllModels: true },
  ] as never,
});

it('a batch at a provider that was made a moment ago is run by that provider', async () => {
  const exchange = { bundle: before as CompiledBundle | undefined, config: undefined };
  const planned = await withPlan(exchange, headers, body, { after: async () => since });
  expect(planned).toMatchObject({
    ...headers,
    ':managed': expect.stringContaining('"isOpenAi":true'),
  });
});

it('one at a provider that there is not is for gateways to refuse, line by line', async () => {
  const exchange = { bundle: before as CompiledBundle | undefined, config: undefined };
  expect(await withPlan(exchange, headers, body, { after: async () => undefined })).toEqual(
    headers,
  );
});

it('one at a provider of which nobody knows is not taken', async () => {
  const exchange = { bundle: before as CompiledBundle | undefined, config: undefined };
  const unknown = new GatewayError('gateway.bundle_unavailable');
  const after = async (_bundle: CompiledBundle, isSureOnly?: boolean) => {
    if (isSureOnly === true) throw unknown;
    return undefined;
  };
  await expect(withPlan(exchange, headers, body, { after })).rejects.toBe(unknown);
});
