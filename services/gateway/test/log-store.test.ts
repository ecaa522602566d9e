import { eventually, startS3, type TestS3 } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { chatBody, type Scenario, startScenario } from './scenario.ts';

/** A bucket behind the gateway and the control plane, with signatures that are looked at. */
let scenario: Scenario;
let s3: TestS3;
beforeAll(async () => {
  s3 = await startS3();
  const store = {
    LOG_STORE: 's3_custom',
    LOG_STORE_BASEPATH: s3.basePath,
    LOG_STORE_REGION: s3.region,
    LOG_STORE_ACCESS_KEY: s3.accessKeyId,
    LOG_STORE_SECRET_KEY: s3.secretAccessKey,
    LOG_STORE_FILE_PATH_FORMAT: 'v2',
    LOG_STORE_CONNECTION_BACKOFF_MS: '500',
    LOG_STORE_CONNECTION_FAILURE_THRESHOLD: '2',
    SSE_ENCRYPTION_TYPE: 'AES256',
  };
  scenario = await startScenario({
    environment: { gateway: store, 'control-plane': store, 'data-service': store },
  });
});
afterAll(async () => {
  await scenario.stop();
  await s3.close();
});
afterEach(() => s3.fail(undefined));

async function ask(text: string): Promise<string> {
  const messages = [{ role: 'user', content: text }];
  const response = await scenario.chat({ body: { ...chatBody, messages } });
  await response.text();
  return response.headers.get('x-service-request-id') ?? '';
}

const read = (requestId: string) =>
  eventually(() =>
    scenario.admin<{ contents: { log_id: string; content: string }[] }>(
      'GET',
      `/requests/${requestId}`,
    ),
  );

it('bodies are in the bucket under the published path, encrypted as asked, and are read from there', async () => {
  const requestId = await ask('in the bucket');
  await eventually(() => expect(s3.objects.size).toBe(1));
  const [[key, content] = ['', Buffer.alloc(0)]] = s3.objects;
  const { organisation_id, workspace_slug } = scenario.stack.credentials;
  expect(key).toMatch(
    new RegExp(
      `^30/${organisation_id}/${workspace_slug}/\\d{4}/\\d\\d/\\d\\d/\\d\\d/[0-9a-f-]{36}\\.json$`,
    ),
  );
  expect(s3.headers.get(key)).toMatchObject({ 'x-amz-server-side-encryption': 'AES256' });
  const { contents } = await read(requestId);
  expect(contents[0]).toMatchObject({ content: 'shown', log_id: key.slice(-41, -5) });
  expect(JSON.stringify(contents)).toContain('in the bucket');
  expect(JSON.parse(content.toString())).toMatchObject({
    _id: contents[0]?.log_id,
    request: { body: { messages: [{ content: 'in the bucket' }] } },
  });
  expect(s3.refusals.filter((code) => code !== 'NoSuchKey')).toEqual([]);
});

it('a bucket that is away costs no request anything, says so, and gets all of it afterwards', async () => {
  const before = s3.objects.size;
  s3.fail(503);
  const requestIds: string[] = [];
  for (let count = 0; count < 20; count++) requestIds.push(await ask(`while it is away ${count}`));
  const [first = ''] = requestIds;
  expect((await read(first)).contents[0]?.content).toBe('store-away');
  await eventually(async () => {
    const metrics = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
    expect(metrics).toMatch(/^sluice_content_store_away(?:{[^}]*})? 1$/m);
  });
  // The circuit is open: the bucket is left alone.
  const asked = s3.requests;
  expect(asked).toBeLessThan(200);
  s3.fail(undefined);
  await eventually(() => expect(s3.objects.size).toBe(before + 20));
  await eventually(async () =>
    expect(JSON.stringify((await read(first)).contents)).toContain('while it is away 0'),
  );
});

/** What the services wrote of the store since then, with the reasons. */
function saidOfStore(fromMs: number): string[] {
  return (['gateway', 'control-plane'] as const).flatMap((service) =>
    scenario.stack
      .part(service)
      .stderr()
      .split('\n')
      .filter((text) => text.startsWith('{'))
      .map((text) => JSON.parse(text) as { time: string; msg: string; reason?: string })
      .filter(({ time, msg }) => Date.parse(time) >= fromMs && /log store|dropped/.test(msg))
      .map(({ msg, reason }) => `${service}: ${msg}${reason === undefined ? '' : `: ${reason}`}`),
  );
}

it.each([
  ['page', 200],
  ['login', 302],
  ['forbidden', 403],
] as const)(
  'loses nothing while another answers in the bucket’s place (%s), and tells it once',
  async (failure, status) => {
    const fromMs = Date.now();
    const before = s3.objects.size;
    const kept = await ask(`kept before ${failure}`);
    await eventually(() => expect(s3.objects.size).toBe(before + 1));
    s3.fail(failure);
    const requestIds: string[] = [];
    for (let count = 0; count < 10; count++)
      requestIds.push(await ask(`behind ${failure} ${count}`));
    const [first = ''] = requestIds;
    // What was stored is not told to be lost.
    for (let count = 0; count < 3; count++)
      expect((await read(kept)).contents[0]?.content).toBe('store-away');
    const away = `the log store is away: the store answered ${status}, but not as S3 does (text/html)`;
    await eventually(() =>
      expect(saidOfStore(fromMs).sort()).toEqual([`control-plane: ${away}`, `gateway: ${away}`]),
    );
    s3.fail(undefined);
    await eventually(() => expect(s3.objects.size).toBe(before + 11));
    await eventually(async () =>
      expect(JSON.stringify((await read(first)).contents)).toContain(`behind ${failure} 0`),
    );
    // A line may be on its way yet.
    await eventually(() =>
      expect(saidOfStore(fromMs).sort()).toEqual([
        `control-plane: ${away}`,
        'control-plane: the log store is back',
        `gateway: ${away}`,
        'gateway: the log store is back',
      ]),
    );
  },
);

it.each(['page', 'login', 'forbidden'] as const)(
  'tells no file as stored that is not: %s',
  async (failure) => {
    const upload = async () => {
      const form = new FormData();
      form.append('purpose', 'batch');
      form.append('file', new Blob(['{"custom_id":"1"}\n']), 'lines.jsonl');
      const { status } = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/files`, {
        method: 'POST',
        headers: { 'x-service-api-key': scenario.stack.credentials.workspace_key },
        body: form,
      });
      return status;
    };
    s3.fail(failure);
    expect(await upload()).toBe(503);
    s3.fail(undefined);
    await eventually(async () => expect(await upload()).toBe(200));
  },
);
