import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { config } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClient } from '@sluice/rpc';
import { eventually, startNats, startRelay } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { deliverAlert } from '../../src/limits/alerts/deliver-alert.ts';
import { createAlertPublisher, natsChannel } from '../../src/limits/alerts/nats-publisher.ts';
import { claimDeliveries } from '../../src/limits/alerts/store.ts';
import { type Harness, startHarness, token } from '../support/harness.ts';
import { dollars, report } from '../support/report.ts';

let h: Harness;
/** Four control planes, as gateways reach them. */
const planes: RpcClient[] = [];
beforeAll(async () => {
  h = await startHarness({ alertIntervalMs: 200 });
  planes.push(h.rpc);
  for (let count = 0; count < 3; count += 1) {
    const { grpcPort } = await h.replica();
    planes.push(createRpcClient(config.ConfigService, { address: `127.0.0.1:${grpcPort}`, token }));
  }
});
afterAll(async () => {
  for (const plane of planes.slice(1)) plane.close();
  await h.stop();
});

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver that fails as often as it is told to, and may look around before it does. */
async function startReceiver(failures = 0, beforeFailing = async () => {}) {
  const received: Received[] = [];
  let left = failures;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (left > 0) {
      await beforeFailing();
      left -= 1;
      response.writeHead(500).end();
      return;
    }
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/alerts`,
    received,
    failuresLeft: () => left,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const admin = () => h.as(h.first.admin_key);
const workspace = () => h.as(h.first.workspace_key);
const secret = 'a-secret-of-this-webhook';
const setWebhook = (webhook: object | null) =>
  admin().put('/admin/organisation/alert-settings', { webhook });

async function makeBudget(
  limits: object,
  over: object = {},
): Promise<{ id: string; key: string; slug: string }> {
  const made = await workspace()
    .post('/api-keys/workspace/service', {
      name: 'watched',
      scopes: ['completions.write'],
      usage_limits: limits,
      ...over,
    })
    .expect(200);
  const { body } = await workspace().get(`/api-keys/${made.body.id}`).expect(200);
  return { id: body.usage_limits.id, key: body.id, slug: body.slug };
}

const tell = (amount: number, limitId: string, plane = 0, epoch = '0.0') =>
  report({ ...h, rpc: planes[plane] as RpcClient }, [{ limitId, epoch, posted: dollars(amount) }]);
const alertsOf = async (key: string) => {
  const entries = await h.db.auditEntry.findMany({
    where: { resourceId: key, action: 'alert' },
    orderBy: { sequence: 'asc' },
  });
  return entries.map(({ detail }) => JSON.parse(detail ?? '') as { alert: string; epoch: string });
};

afterEach(() => {
  h.clock.offsetMs = 0;
});

describe('alerts', () => {
  it('are told once an epoch, whichever control planes hear of it', async () => {
    const { id, key } = await makeBudget({ credit_limit: 10, alert_threshold: 5 });
    await tell(4, id);
    expect(await alertsOf(key)).toEqual([]);
    await Promise.all([0, 1, 2, 3, 0, 1, 2, 3].map((plane) => tell(6, id, plane)));
    expect(await alertsOf(key)).toMatchObject([{ alert: 'limit.threshold_reached', epoch: '0.0' }]);
    await Promise.all([0, 1, 2, 3].map((plane) => tell(11, id, plane)));
    await tell(12, id);
    expect((await alertsOf(key)).map(({ alert }) => alert)).toEqual([
      'limit.threshold_reached',
      'limit.exhausted',
    ]);
    await workspace().put(`/api-keys/${key}`, { reset_usage: true }).expect(200);
    await tell(5, id, 1, '1.0');
    expect((await alertsOf(key)).map(({ epoch }) => epoch)).toEqual(['0.0', '0.0', '1.0']);
  });

  it('of a threshold and of the end come both when one request passes both', async () => {
    const { id, key } = await makeBudget({ credit_limit: 10, alert_threshold: 5 });
    await tell(10, id);
    expect((await alertsOf(key)).map(({ alert }) => alert)).toEqual([
      'limit.threshold_reached',
      'limit.exhausted',
    ]);
  });

  it('of a policy that says 0 are told with the first that is used', async () => {
    const policy = { conditions: [{ key: 'api_key', value: '*' }], group_by: [{ key: 'api_key' }] };
    const { body } = await workspace()
      .post('/policies/usage-limits', {
        ...policy,
        type: 'cost',
        credit_limit: 9,
        alert_threshold: 0,
      })
      .expect(200);
    const use = (posted: bigint) =>
      report(h, [{ limitId: body.id as string, group: 'api_key:k', posted }]);
    await use(0n);
    expect(await alertsOf(body.id)).toEqual([]);
    await use(1n);
    await use(2n);
    expect(await alertsOf(body.id)).toMatchObject([{ alert: 'limit.threshold_reached' }]);
  });

  it('of very many groups at once are told of each', async () => {
    const made = await workspace()
      .post('/policies/usage-limits', {
        conditions: [{ key: 'api_key', value: '*' }],
        group_by: [{ key: 'metadata._user' }],
        type: 'requests',
        credit_limit: 2,
        alert_threshold: 1,
      })
      .expect(200);
    const counters = Array.from({ length: 150 }, (_, user) => ({
      limitId: made.body.id as string,
      group: `metadata._user:${user}`,
      posted: user === 0 ? 1n : 2n,
    }));
    await Promise.all(
      [0, 1].map((plane) => report({ ...h, rpc: planes[plane] as RpcClient }, counters)),
    );
    const told = (await alertsOf(made.body.id)).map(({ alert }) => alert);
    expect(told.filter((alert) => alert === 'limit.threshold_reached')).toHaveLength(150);
    expect(told.filter((alert) => alert === 'limit.exhausted')).toHaveLength(149);
  });

  it('are published to NATS, where there is one', async () => {
    const nats = await startNats();
    const publishing = await h.replica({ NATS_URL: nats.url });
    const plane = createRpcClient(config.ConfigService, {
      address: `127.0.0.1:${publishing.grpcPort}`,
      token,
    });
    const listener = await connect({ servers: nats.url });
    const heard = listener.subscribe('sluice.alerts.v1', { max: 1 });
    await listener.flush();
    const { id, key } = await makeBudget({ credit_limit: 10 });
    await report({ ...h, rpc: plane }, [{ limitId: id, posted: dollars(10) }]);
    for await (const message of heard)
      expect(message.json()).toMatchObject({
        type: 'limit.exhausted',
        limit: { id, holder: 'api_key', holder_id: key },
        current_usage: 10,
      });
    await eventually(async () => (await h.db.alertDelivery.count()) === 0);
    await listener.close();
    plane.close();
    await publishing.close();
    await nats.stop();
  });

  it('are not taken as published by a NATS that hangs, nor waited for', async () => {
    const nats = await startNats();
    const relay = await startRelay(nats.port);
    const publisher = createAlertPublisher(`nats://127.0.0.1:${relay.port}`, 500);
    await publisher.publish('{}');
    relay.hang();
    await expect(publisher.publish('{}')).rejects.toThrow('NATS said nothing for 500 ms');
    await relay.up();
    await eventually(() => publisher.publish('{}'));
    await publisher.close();
    await relay.down();
    await nats.stop();
  });

  it('that cannot be delivered are told in the log once, and once when they can, whatever their number', async () => {
    const lines: [string, string, string | undefined][] = [];
    const line =
      (level: string) =>
      ({ reason, err }: { reason?: string; err?: Error }, text: string) =>
        lines.push([level, text, reason ?? err?.message]);
    const logger = { info: line('info'), warn: line('warn'), error: line('error'), debug() {} };
    let fails = true;
    const publish = async () => {
      if (fails) throw new Error('nobody is there');
    };
    const channel = natsChannel({ publish, close: async () => {} }, logger as never);
    const parts = { client: h.db, now: () => new Date(), logger: logger as never };
    const delivery = (createdAt = new Date()) => ({
      id: randomUUID(),
      organisationId: h.first.organisation_id,
      channel: 'nats',
      body: '{}',
      attempts: 1,
      fault: null,
      nextAt: new Date(),
      createdAt,
    });
    for (let count = 0; count < 5; count += 1) await deliverAlert(parts, channel, delivery());
    await deliverAlert(parts, channel, delivery(new Date(0)));
    fails = false;
    for (let count = 0; count < 3; count += 1) await deliverAlert(parts, channel, delivery());
    expect(lines).toEqual([
      ['warn', 'NATS takes no alerts', 'nobody is there'],
      ['error', 'an alert could not be delivered for a day, and is given up', 'nobody is there'],
      ['info', 'NATS takes alerts again', undefined],
    ]);
  });

  it('are told anew when more is granted', async () => {
    const { id, key } = await makeBudget({ credit_limit: 10 });
    await tell(10, id);
    await workspace()
      .put(`/api-keys/${key}`, { usage_limits: { credit_limit: 20 } })
      .expect(200);
    await tell(20, id);
    expect(await alertsOf(key)).toHaveLength(2);
  });
});

describe('a webhook', () => {
  it('is told of each alert, signed', async () => {
    const receiver = await startReceiver();
    await setWebhook({ url: receiver.url, secret }).expect(200);
    const alert_emails = ['budgets@example.org'];
    const { id, key, slug } = await makeBudget(
      { credit_limit: 10, alert_threshold: 5 },
      { alert_emails },
    );
    await tell(6.5, id);
    await eventually(() => receiver.received.length === 1);
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received;
    const alert = JSON.parse(body);
    expect(alert).toEqual({
      id: expect.any(String),
      type: 'limit.threshold_reached',
      created_at: expect.any(String),
      organisation_id: h.first.organisation_id,
      workspace_id: h.first.workspace_id,
      limit: {
        id,
        holder: 'api_key',
        holder_id: key,
        holder_name: slug,
        type: 'cost',
        credit_limit: 10,
        alert_threshold: 5,
        shadow: false,
      },
      value_key: '',
      epoch: '0.0',
      current_usage: 6.5,
      alert_emails,
    });
    const signed = `${alert.id}.${headers['webhook-timestamp']}.${body}`;
    expect(headers).toMatchObject({
      'webhook-id': alert.id,
      'webhook-signature': `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`,
    });
    expect(Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    await eventually(async () => (await h.db.alertDelivery.count()) === 0);
    await setWebhook(null).expect(200);
    await receiver.close();
  });

  it('that fails ten times is told in the end, once', async () => {
    const nextAt = async () => (await h.db.alertDelivery.findFirst())?.nextAt.getTime();
    let taken: number | undefined;
    const receiver = await startReceiver(10, async () => {
      taken = await nextAt();
    });
    await setWebhook({ url: receiver.url, secret }).expect(200);
    const { id } = await makeBudget({ credit_limit: 10 });
    await tell(10, id, 2);
    for (let failure = 9; failure >= 0; failure -= 1) {
      // Whoever sent it has written down that it failed; an hour earlier it would look as if he had died.
      await eventually(
        async () => receiver.failuresLeft() === failure && (await nextAt()) !== taken,
      );
      // Until it is due again no one asks; then whoever looks first.
      h.clock.offsetMs += 3_600_000;
    }
    await eventually(() => receiver.received.length > 0);
    await eventually(async () => (await h.db.alertDelivery.count()) === 0);
    expect(receiver.received).toHaveLength(1);
    await setWebhook(null).expect(200);
    await receiver.close();
  });

  it('that takes none is shown with how many wait and why, until it takes them', async () => {
    const receiver = await startReceiver(1);
    await setWebhook({ url: receiver.url, secret }).expect(200);
    const shown = async () =>
      (await admin().get('/admin/organisation/alert-settings').expect(200)).body.webhook;
    expect(await shown()).not.toHaveProperty('undelivered');
    const { id } = await makeBudget({ credit_limit: 10 });
    await tell(10, id, 2);
    const held = await eventually(async () => {
      const webhook = await shown();
      expect(webhook.undelivered).toEqual({
        count: 1,
        since: expect.any(String),
        reason: 'the webhook answered 500',
      });
      return webhook;
    });
    // What was read may be sent back.
    const sent = await setWebhook(held).expect(200);
    expect(sent.body.warnings).toEqual([
      'body.webhook.undelivered: is shown only, and was left out',
    ]);
    h.clock.offsetMs += 3_600_000;
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await eventually(async () => expect(await shown()).not.toHaveProperty('undelivered'));
    const away = await startReceiver();
    await away.close();
    await setWebhook({ url: away.url, secret }).expect(200);
    const { id: other } = await makeBudget({ credit_limit: 10 });
    await tell(10, other, 2);
    await eventually(async () =>
      expect((await shown()).undelivered?.reason).toMatch(/^The webhook could not be reached/),
    );
    await setWebhook(null).expect(200);
    h.clock.offsetMs += 3_600_000;
    await eventually(async () => (await h.db.alertDelivery.count()) === 0);
    await receiver.close();
  });

  it('that has answered is not told again, whatever else it goes on to say', async () => {
    const told: string[] = [];
    const server = createServer((request, response) => {
      told.push(String(request.headers['webhook-id']));
      // More than anybody reads, and no end.
      response.writeHead(200).write('x'.repeat(100_000));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await setWebhook({ url: `http://127.0.0.1:${port}/`, secret }).expect(200);
    const { id } = await makeBudget({ credit_limit: 10 });
    await tell(10, id);
    await eventually(() => told.length > 0);
    await eventually(async () => (await h.db.alertDelivery.count()) === 0);
    expect(told).toHaveLength(1);
    await setWebhook(null).expect(200);
    server.closeAllConnections();
    server.close();
  });

  it('of one organisation does not keep those of others waiting', async () => {
    const now = new Date(Date.now() + 2 * 86_400_000);
    const due = (organisationId: string, before: number) => ({
      id: randomUUID(),
      organisationId,
      channel: 'webhook',
      body: '{}',
      createdAt: now,
      nextAt: new Date(now.getTime() - before),
    });
    const theirs = due(h.other.organisation_id, 1);
    const many = Array.from({ length: 50 }, (_, at) => due(h.first.organisation_id, 1_000 + at));
    await h.db.alertDelivery.createMany({ data: [...many, theirs] });
    const until = new Date(now.getTime() + 60_000);
    const claim = { now, until, channel: 'webhook', count: 20, ofOneMax: 30 };
    const taken = await claimDeliveries(h.db, { ...claim, sending: new Map() });
    const sending = new Map([[h.first.organisation_id, 10]]);
    const next = await claimDeliveries(h.db, { ...claim, sending });
    const none = new Map([[h.first.organisation_id, 30]]);
    expect(await claimDeliveries(h.db, { ...claim, sending: none })).toEqual([]);
    await h.db.alertDelivery.deleteMany();
    expect(taken.map(({ id }) => id)).toContain(theirs.id);
    const longest = many.toReversed().slice(0, 39);
    expect([...taken, ...next].map(({ id }) => id).toSorted()).toEqual(
      [...longest, theirs].map(({ id }) => id).toSorted(),
    );
  });

  it('that does not answer keeps nobody else waiting', async () => {
    let begun = 0;
    let givenUp = 0;
    const hanging = createServer((request) => {
      begun += 1;
      request.once('close', () => {
        givenUp += 1;
      });
    }).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const { port } = hanging.address() as AddressInfo;
    await setWebhook({ url: `http://127.0.0.1:${port}/`, secret }).expect(200);
    const other = await startReceiver();
    await h
      .as(h.other.admin_key)
      .put('/admin/organisation/alert-settings', { webhook: { url: other.url, secret } })
      .expect(200);
    const due = (organisationId: string) => {
      const now = new Date();
      const id = randomUUID();
      return { id, organisationId, channel: 'webhook', body: '{}', createdAt: now, nextAt: now };
    };
    const many = Array.from({ length: 200 }, () => due(h.first.organisation_id));
    await h.db.alertDelivery.createMany({ data: many });
    await eventually(() => begun >= 16);
    // All four have looked.
    await delay(1_000);
    await h.db.alertDelivery.create({ data: due(h.other.organisation_id) });
    await eventually(() => other.received.length === 1);
    expect(givenUp).toBe(0);
    await setWebhook(null).expect(200);
    await h.as(h.other.admin_key).put('/admin/organisation/alert-settings', { webhook: null });
    hanging.closeAllConnections();
    hanging.close();
    await other.close();
    await h.db.alertDelivery.deleteMany();
  });

  it.each([
    ['seconds', () => '600'],
    ['a date', () => new Date(Date.now() + 600_000).toUTCString()],
    ['more than it is left alone for', () => '86400'],
  ])(
    'that says in %s when it wants to be asked again is left alone until then',
    async (_, retryAfter) => {
      let told = 0;
      const server = createServer((_request, response) => {
        told += 1;
        response.writeHead(429, { 'retry-after': retryAfter() }).end();
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      await setWebhook({ url: `http://127.0.0.1:${port}/`, secret }).expect(200);
      const { id } = await makeBudget({ credit_limit: 10 });
      const from = Date.now();
      await tell(10, id);
      let waits = 0;
      await eventually(async () => {
        const { nextAt } = await h.db.alertDelivery.findFirstOrThrow();
        waits = nextAt.getTime() - from;
        return told === 1 && waits > 100_000;
      });
      expect(waits).toBeGreaterThan(595_000);
      expect(waits).toBeLessThan(3_700_000);
      await setWebhook(null).expect(200);
      await h.db.alertDelivery.deleteMany();
      server.close();
    },
  );

  it('that is down for a day is given up', async () => {
    const receiver = await startReceiver();
    await receiver.close();
    await setWebhook({ url: receiver.url, secret }).expect(200);
    const { id } = await makeBudget({ credit_limit: 10 });
    await tell(10, id);
    await eventually(async () => (await h.db.alertDelivery.findFirst())?.attempts === 1);
    h.clock.offsetMs = 25 * 3_600_000;
    await eventually(async () => (await h.db.alertDelivery.count()) === 0);
    await setWebhook(null).expect(200);
  });

  it('shows its secret to nobody, and is no address that may not be called', async () => {
    await setWebhook({ url: 'https://alerts.example.com/', secret }).expect(200);
    const shown = await admin().get('/admin/organisation/alert-settings').expect(200);
    expect(shown.body.webhook.url).toBe('https://alerts.example.com/');
    expect(shown.text).not.toContain(secret);
    const entries = await h.db.auditEntry.findMany({
      where: { uri: { contains: 'alert-settings' } },
    });
    expect(JSON.stringify(entries, (_name, value) => String(value ?? ''))).not.toContain(secret);
    expect(entries.map(({ requestBody }) => requestBody).join()).not.toContain(secret);
    const short = await setWebhook({ url: 'https://alerts.example.com/', secret: 'too-short' });
    expect([short.status, short.body.data.field]).toEqual([400, 'body.webhook.secret']);
    for (const url of ['http://169.254.169.254/', 'http://alerts.example.com/', 'ftp://x.com']) {
      const answer = await setWebhook({ url, secret });
      expect([answer.status, answer.body.data.field]).toEqual([400, 'body.webhook.url']);
    }
    await setWebhook(null).expect(200);
    expect((await admin().get('/admin/organisation/alert-settings')).body).toEqual({
      webhook: null,
    });
  });
});
