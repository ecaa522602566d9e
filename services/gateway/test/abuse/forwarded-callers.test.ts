import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { freshName } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Scenario, startScenario } from '../scenario.ts';

/** What callers say of themselves in headers and paths, on its way to the control plane. */

let scenario: Scenario;
beforeAll(async () => {
  scenario = await startScenario();
});
afterAll(() => scenario.stop());

interface Entry {
  request_id: string;
  client_ip: string;
  request_headers: string;
}

/** The audit entries of changes to a config of this name. */
async function entriesOf(name: string): Promise<Entry[]> {
  const window = 'start_time=2020-01-01T00:00:00Z&end_time=2099-01-01T00:00:00Z&page_size=100';
  const { records } = await scenario.admin<{ records: (Entry & { request_body: string })[] }>(
    'GET',
    `/audit-logs?${window}`,
  );
  return records.filter((entry) => entry.request_body?.includes(name));
}

const forged = {
  'x-forwarded-for': '203.0.113.66',
  'x-real-ip': '203.0.113.66',
  forwarded: 'for=203.0.113.66',
  'x-service-request-id': 'id-of-another-request',
};

describe('a change of a stranger with a workspace key', () => {
  it.each([
    ['through the gateway', () => scenario.stack.gatewayUrls[0]],
    ['at the control plane itself, on loopback', () => scenario.stack.controlPlaneUrl],
  ])('sent %s has their own address and our id in the audit log', async (where, origin) => {
    const name = `forged ${where}`;
    const response = await fetch(`${origin()}/v1/configs`, {
      method: 'POST',
      headers: {
        'x-service-api-key': scenario.stack.credentials.workspace_key,
        'content-type': 'application/json',
        ...forged,
      },
      body: JSON.stringify({ name, config: { provider: '@demo' } }),
    });
    expect(response.status).toBe(200);
    const [entry] = await entriesOf(name);
    expect(entry?.client_ip).toBe('127.0.0.1');
    expect(entry?.request_id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(entry?.request_id).toBe(response.headers.get('x-service-request-id'));
    // Kept beside it, so that their own logs can be matched with ours.
    expect(JSON.parse(entry?.request_headers ?? '')).toMatchObject({
      'x-service-trace-id': 'id-of-another-request',
    });
  });
});

describe('links that the control plane makes', () => {
  it('lead nowhere that a caller names in x-forwarded-host', async () => {
    const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/admin/users/invites`, {
      method: 'POST',
      headers: {
        'x-service-api-key': scenario.stack.credentials.admin_key,
        'content-type': 'application/json',
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
      },
      body: JSON.stringify({
        email: `${freshName('a')}@sluice.example`,
        role: 'member',
        workspaces: [],
      }),
    });
    const { invite_link: link } = (await response.json()) as { invite_link: string };
    expect(new URL(link).origin).toBe(scenario.stack.gatewayUrls[0]);
  });
});

describe('paths of admin calls', () => {
  it.each([
    '/v1/configs/../../metrics',
    '/v1/configs/%2e%2e/%2e%2e/metrics',
    '/v1/configs/..%2f..%2fmetrics',
    '/v1/configs/..;/..;/metrics',
    '/v1/configs//',
    '/v1/configs/..\\..\\metrics',
    '/docs/../metrics',
  ])('%s is refused before anything is asked', async (path) => {
    const { hostname, port } = new URL(scenario.stack.gatewayUrls[0] ?? '');
    const headers = { 'x-service-api-key': scenario.stack.credentials.admin_key };
    const [status, body] = await new Promise<[number, string]>((resolve, reject) => {
      request({ hostname, port, path, headers }, (answer) =>
        text(answer).then((body) => resolve([answer.statusCode ?? 0, body]), reject),
      )
        .on('error', reject)
        .end();
    });
    expect([status, JSON.parse(body).data?.code]).toEqual([400, 'request.invalid_field']);
  });
});
