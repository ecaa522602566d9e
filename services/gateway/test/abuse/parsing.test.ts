import { request } from 'node:http';
import { eventually, json } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatReply, errorOf, type Scenario, startScenario } from '../scenario.ts';
import { type Bystander, longestBusyDuring, startBystander } from './bystander.ts';

/** Whatever one caller sends to be parsed, another one hardly waits for it. */
let scenario: Scenario;
let bystander: Bystander;
let pid: number | undefined;
const mebibyte = 1024 * 1024;
/** What the gateway may work while another caller waits, ms; the attacks kept it for seconds. */
const stallMs = 250;

beforeAll(async () => {
  scenario = await startScenario({ processes: ['gateway'] });
  pid = scenario.stack.part('gateway').pid;
  bystander = await startBystander(scenario);
});
beforeEach(() => scenario.upstream.handle(json(200, chatReply)));
afterAll(async () => {
  expect(scenario.stack.part('gateway').pid).toBe(pid);
  await bystander.stop();
  await scenario.stop();
});

const worstWait = (work: () => Promise<unknown>) => longestBusyDuring(bystander, work);

function listOf(item: string, bytes: number): string {
  return `[${`${item},`.repeat(Math.floor(bytes / (item.length + 1)))}${item}]`;
}

describe('a request body', () => {
  it.each([
    ['objects', listOf('{}', 9 * mebibyte)],
    ['lists', listOf('[]', 9 * mebibyte)],
    ['members', listOf('{"a":1}', 9 * mebibyte)],
    ['numbers', listOf('1', 9 * mebibyte)],
    ['texts', listOf('""', 9 * mebibyte)],
  ])('made of millions of %s is refused before it is parsed', async (_name, list) => {
    const rawBody = Buffer.from(`{"model":"m","messages":${list}}`);
    let refused: Awaited<ReturnType<typeof errorOf>> | undefined;
    const waited = await worstWait(async () => {
      refused = await errorOf(await scenario.chat({ rawBody }));
    });
    expect(refused).toMatchObject({ status: 413, code: 'request.too_many_values', param: 'body' });
    expect(waited).toBeLessThan(stallMs);
  });

  it('of the largest size that is one text passes', async () => {
    const rawBody = Buffer.from(`{"model":"m","pad":"${'\\"'.repeat(4 * mebibyte)}"}`);
    let status = 0;
    const waited = await worstWait(async () => {
      status = (await scenario.chat({ rawBody })).status;
    });
    expect(status).toBe(200);
    expect(waited).toBeLessThan(stallMs);
  });

  it.each([
    ['twice', '{"model":"a","model":"b"}', 'body.model'],
    ['in another case', '{"model":"a","Model":"b"}', 'body.model'],
    ['only in another case', '{"MODEL":"b"}', 'body.model'],
    ['twice, once with an escape', '{"model":"a","mod\\u0065l":"b"}', 'body.model'],
  ])(
    'with the model %s is refused: readers would choose differently',
    async (_name, rawBody, param) => {
      expect(await errorOf(await scenario.chat({ rawBody }))).toMatchObject({
        status: 400,
        code: 'request.ambiguous_member',
        param,
      });
    },
  );

  it('with stream twice is refused', async () => {
    const rawBody = '{"model":"a","stream":false,"stream":true}';
    expect(await errorOf(await scenario.chat({ rawBody }))).toMatchObject({
      code: 'request.ambiguous_member',
      param: 'body.stream',
    });
  });
});

describe('half a character', () => {
  it.each(['\\ud800', '\\udfff', 'a\\ud83d', '\\u0000'])(
    '%s in metadata, model or user is no fault of ours',
    async (half) => {
      const { workspace_id } = scenario.stack.credentials;
      const policy = await scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
        name: 'by tenant',
        workspace_id,
        type: 'requests',
        unit: 'rpd',
        value: 1000,
        conditions: [{ key: 'metadata.run', value: 'halves' }],
        group_by: [{ key: 'metadata.tenant' }, { key: 'model' }, { key: 'metadata._user' }],
      });
      const call = (tenant: string, rawBody: string) =>
        scenario.chat({
          rawBody,
          headers: { 'x-service-metadata': `{"run":"halves","tenant":"${tenant}"}` },
        });
      await eventually(async () => {
        const { headers } = await call('a', '{"model":"m"}');
        expect(headers.get('x-service-ratelimit-limit-requests')).not.toBeNull();
      });
      expect((await call(half, '{"model":"m"}')).status).toBe(200);
      expect((await call('a', `{"model":"m","user":"${half}"}`)).status).toBe(200);
      expect((await call('a', `{"model":"m${half}"}`)).status).toBeLessThan(500);
      await scenario.admin('DELETE', `/policies/rate-limits/${policy.id}`);
    },
  );
});

describe('headers', () => {
  it('of 60 kB of spaces are read in a moment', async () => {
    const url = `${scenario.stack.gatewayUrls[0]}/v1/audio/transcriptions`;
    const answers: number[] = [];
    const waited = await worstWait(async () => {
      for (const contentType of [
        `multipart/form-data;${' '.repeat(60_000)}x`,
        `multipart/form-data; boundary=b;${'\t'.repeat(60_000)}"`,
      ])
        answers.push(await post(url, contentType, '--b--'));
      const part = `--b\r\nContent-Disposition: form-data; name="a";${' '.repeat(16_000)}x\r\n\r\n1\r\n`;
      answers.push(await post(url, 'multipart/form-data; boundary=b', `${part.repeat(50)}--b--`));
    });
    expect(answers).toEqual([400, 400, 400]);
    expect(waited).toBeLessThan(stallMs);
  });
});

/** With a header as it is: fetch would trim it. */
function post(url: string, contentType: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'x-service-api-key': scenario.stack.credentials.workspace_key,
      'x-service-provider': 'openai',
      'x-service-custom-host': `${scenario.upstream.url}/v1`,
      'content-type': contentType,
    };
    request(url, { method: 'POST', headers, agent: false }, (res) => {
      res.resume();
      resolve(res.statusCode ?? 0);
    })
      .on('error', reject)
      .end(body);
  });
}
