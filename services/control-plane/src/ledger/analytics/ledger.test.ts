import { once } from 'node:events';
import { analytics } from '@sluice/proto-stubs';
import { createRpcClient, serveRpc } from '@sluice/rpc';
import { expect, it } from 'vitest';
import { createLedger } from './ledger.ts';

const token = 'a-token-of-the-test';

it('takes a question back whose caller goes, which is no fault of the data service', async () => {
  const server = await serveRpc({ host: '127.0.0.1', port: 0, token });
  const { promise: asked, resolve: onAsked } = Promise.withResolvers<AbortSignal>();
  const none = () => Promise.reject(new Error('not asked'));
  server.add(analytics.AnalyticsService, {
    getGraph: none,
    listGroups: none,
    sumCounters: none,
    async getSummary(_, { signal }) {
      onAsked(signal);
      await once(signal, 'abort');
      return {};
    },
  });
  const client = createRpcClient(analytics.AnalyticsService, {
    address: `127.0.0.1:${server.port}`,
    token,
  });
  try {
    const caller = new AbortController();
    const answer = createLedger(client).getSummary({}, caller.signal);
    const there = await asked;
    caller.abort();
    await expect(answer).rejects.toMatchObject({ code: 'request.aborted', status: 499 });
    if (!there.aborted) await once(there, 'abort');
  } finally {
    client.close();
    await server.close(0);
  }
});
