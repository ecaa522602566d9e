import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { createRpcClient, type RpcServer, serveRpc } from '@sluice/rpc';
import { readEntry } from '@sluice/usage';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sendFeedback } from '../../src/ledger/feedback/send-feedback.ts';
import { type Harness, startHarness, token } from '../support/harness.ts';

let h: Harness;
let ledger: RpcServer;
let stored: usage.Feedback[] = [];
/** What the ledger does with a batch before it answers. */
let onWrite: () => Promise<void> = async () => {};
beforeAll(async () => {
  h = await startHarness();
  ledger = await serveRpc({ host: '127.0.0.1', port: 0, token });
  ledger.add(usage.UsageService, {
    listCharges: async function* () {},
    async writeUsage({ records }) {
      await onWrite();
      for (const { kind, body } of records.map(readEntry))
        if (kind === usage.EntryKind.FEEDBACK) stored.push(fromBinary(usage.FeedbackSchema, body));
      return {};
    },
  });
});
afterAll(async () => {
  await ledger.close(0);
  await h.stop();
});
beforeEach(async () => {
  stored = [];
  onWrite = async () => {};
  await h.db.feedback.deleteMany();
});

const signal = new AbortController().signal;
const workspace = () => h.as(h.first.workspace_key);

async function send(port = ledger.port): Promise<void> {
  const client = createRpcClient(usage.UsageService, { address: `127.0.0.1:${port}`, token });
  try {
    await sendFeedback({ client: h.db, ledger: client }, signal);
  } finally {
    client.close();
  }
}

async function give(body: object): Promise<string> {
  const answer = await workspace().post('/feedback', body).expect(200);
  return answer.body.feedback_ids[0];
}

it('feedback goes to the ledger once, with all that it says', async () => {
  const id = await give({
    trace_id: 't',
    value: -3,
    weight: 0.25,
    metadata: { _user: 'ada', n: 1 },
  });
  await send();
  await send();
  expect(stored).toEqual([
    expect.objectContaining({
      id: Buffer.from(id.replaceAll('-', ''), 'hex'),
      organisationId: h.first.organisation_id,
      workspaceId: h.first.workspace_id,
      traceId: 't',
      value: -3,
      weight: 0.25,
      metadata: { _user: 'ada', n: '1' },
    }),
  ]);
});

it('a change is sent again, later than what was before', async () => {
  const id = await give({ trace_id: 't', value: 1 });
  await send();
  await workspace().put(`/feedback/${id}`, { value: 2 }).expect(200);
  await send();
  expect(stored.map(({ value }) => value)).toEqual([1, 2]);
  expect(stored[1]!.changedAtMs).toBeGreaterThanOrEqual(stored[0]!.changedAtMs);
});

it('what changes while it is sent is sent again', async () => {
  const id = await give({ trace_id: 't', value: 1 });
  onWrite = async () => {
    onWrite = async () => {};
    await workspace().put(`/feedback/${id}`, { value: 2 }).expect(200);
  };
  await send();
  await send();
  expect(stored.map(({ value }) => value)).toEqual([1, 2]);
});

it('nothing is lost while the ledger is away, or where its answer is', async () => {
  await give([1, 2, 3].map((value) => ({ trace_id: 't', value })));
  // Port 9 is "discard": nobody listens there.
  await expect(send(9)).rejects.toThrow();
  onWrite = () => Promise.reject(new Error('full'));
  await expect(send()).rejects.toThrow();
  onWrite = async () => {};
  await send();
  expect(stored.map(({ value }) => value).sort()).toEqual([1, 2, 3]);
});

it('many are sent in several batches', async () => {
  for (let batch = 0; batch < 2; batch += 1)
    await give(Array.from({ length: 600 }, () => ({ trace_id: 't', value: batch })));
  await send();
  expect(new Set(stored.map(({ id }) => Buffer.from(id).toString('hex'))).size).toBe(1200);
  expect(await h.db.feedback.count({ where: { isSent: false } })).toBe(0);
});
