import { eventually, startS3, type TestS3 } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
  scenario = await startScenario({ environment: { gateway: store, 'control-plane': store } });
});
afterAll(async () => {
  await scenario.stop();
  await s3.close();
});

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
