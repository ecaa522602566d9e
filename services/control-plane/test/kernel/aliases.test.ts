import { inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createContext, freshPath, validCall } from '../contract/call.ts';
import type { Context } from '../contract/example.ts';
import { answerFaults } from '../contract/faults.ts';
import { pagedLedger } from '../contract/ledger.ts';
import { loadContract, titled } from '../contract/load-contract.ts';
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts';
import { type Harness, startHarness } from '../support/harness.ts';

/** The prefix of a client that was written for another gateway. */
const prefix = 'x-other-';

let h: Harness;
let context: Context;
let gateway: GatewayProcess;
beforeAll(async () => {
  h = await startHarness({ analytics: pagedLedger });
  context = await createContext(h);
  gateway = await startGateway(h, h.service, { HEADER_PREFIX_ALIASES: prefix });
});
afterAll(async () => {
  await gateway?.stop();
  await h.stop();
});

/** In the suite a third of the operations, of each resource some (`npm run test:long`: all). */
it.each(inTurns(titled(await loadContract()), 3))(
  '%s is served to a client that sends another prefix',
  async (_title, one) => {
    const { endpoint } = one;
    const path = await freshPath(context, one);
    const { key, query, body } = await validCall(context, one, { path });
    const filled = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
      encodeURIComponent(path[name] ?? ''),
    );
    const root = endpoint.atRoot === true ? gateway.url : `${gateway.url}/v1`;
    const response = await fetch(
      `${root}${filled}?${new URLSearchParams(query as Record<string, string>)}`,
      {
        method: endpoint.method,
        headers: { [`${prefix}api-key`]: key ?? '', 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      },
    );
    const text = await response.text();
    expect(response.status, text).toBe(200);
    // Of what answers lines, each has the published shape.
    const published = endpoint.lines === true ? (text.split('\n', 1)[0] ?? '') : text;
    const answer = { status: response.status, text, body: JSON.parse(published) };
    expect(answerFaults(one, answer as never, 'aliased')).toEqual([]);
    expect([...response.headers.keys()]).toContain(`${prefix}request-id`);
  },
);
