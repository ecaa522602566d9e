import { expect, it } from 'vitest';
import { catalogueOperations } from './routes.ts';

interface Listed {
  total: number;
  data: Record<string, unknown>[];
}

/** One page of a list, as a caller with a key gets it. */
async function listed(id: keyof typeof catalogueOperations, query: object = {}): Promise<Listed> {
  const notes = { isLenient: false, general: [], warnings: [] };
  const call = {
    query: { page_size: '1000', ...query },
    params: {},
    notes,
    nameWorkspace: async () => {},
  };
  return (await catalogueOperations[id].handle(call as never)) as unknown as Listed;
}

it('tells what each scope opens, of the admin API and of the gateway', async () => {
  const { data } = await listed('catalogue.scopes');
  const scopes = new Map(data.map(({ id, ...scope }) => [id, scope]));
  expect(scopes.get('completions.write')).toMatchObject({
    key_types: ['workspace-service', 'workspace-user'],
    operations: expect.arrayContaining(['chatComplete', 'embed']),
  });
  expect(scopes.get('audit_logs.list')).toEqual({
    key_types: ['organisation-service'],
    operations: ['getAuditLogs', 'getAuditLogsExport', 'getAuditLogsVerify'],
  });
  // Needed by the level of what is asked for: a table of scopes.
  expect(scopes.get('workspace_integrations.list')?.operations).not.toEqual([]);
});

it('tells of providers what can be set, and by which header', async () => {
  const { data } = await listed('catalogue.providers');
  expect(data.find(({ id }) => id === 'openai')).toMatchObject({
    base_url: 'https://api.openai.com/v1',
    endpoints: expect.arrayContaining(['chatComplete']),
    settings: expect.arrayContaining([
      { name: 'openai_organization', header: 'x-service-openai-organization', kind: 'account' },
    ]),
  });
});

it('tells which operations count as requests, page by page', async () => {
  const all = await listed('catalogue.endpoints');
  const counts = new Map(all.data.map(({ id, counts_request }) => [id, counts_request]));
  expect([counts.get('chatComplete'), counts.get('messagesCountTokens')]).toEqual([true, false]);
  const second = await listed('catalogue.endpoints', { page_size: '1', current_page: '1' });
  expect(second).toMatchObject({ total: all.total, data: [all.data[1]] });
});
