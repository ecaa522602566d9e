import { afterEach, expect, it } from 'vitest';
import { type Harness, startHarness } from './support/harness.ts';
import { type OwnProcess, startProcessOf } from './support/own-process.ts';

let h: Harness | undefined;
let service: OwnProcess | undefined;
afterEach(async () => {
  await service?.kill();
  await h?.stop();
});

it('a connection to Postgres has one statement at a time, so that Node warns of nothing', async () => {
  h = await startHarness();
  service = await startProcessOf(h);
  const { url } = service;
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        'x-service-api-key': h?.first.admin_key ?? '',
        'content-type': 'application/json',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect([path, response.status]).toEqual([path, 200]);
    return (await response.json()) as { id: string; data?: { id: string } };
  };
  for (const slug of ['first', 'second']) {
    const integration = { name: slug, slug, ai_provider_id: 'openai', key: 'sk-1' };
    await send('POST', '/integrations', { ...integration, create_default_provider: true });
    await send('POST', '/admin/workspaces', { name: slug, slug });
    await send('PUT', `/admin/workspaces/${slug}`, { name: `${slug} again` });
  }
  await send('GET', '/admin/workspaces');
  await send('DELETE', '/admin/workspaces/first', { name: 'first again' });
  const warnings = service
    .log()
    .split('\n')
    .filter((line) => line.includes('Node warns'));
  expect(warnings).toEqual([]);
});
