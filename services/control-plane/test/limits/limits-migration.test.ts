import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder, testDatabase } from '@sluice/testkit';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { applyMigrations } from '../../src/kernel/migrations/apply.ts';

const migrations = join(import.meta.dirname, '../../prisma/migrations');
const own = '20261124000000_limits';

it('limits of the release before are given ids, and count what they counted', async () => {
  const before = await temporaryFolder('migrations');
  for (const name of readdirSync(migrations))
    if (name < own) cpSync(join(migrations, name), join(before, name), { recursive: true });
  const url = await testDatabase();
  await applyMigrations(url, { folder: before });
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(filling);
    expect(await applyMigrations(url)).toContain(own);
    const ids = /^[0-9a-f]{8}-/;
    const { rows } = await client.query<{ budgets: unknown; rates: unknown }>(
      `SELECT usage_limits AS budgets, rate_limits AS rates FROM api_keys
        UNION ALL SELECT usage_limits, rate_limits FROM workspaces
        UNION ALL SELECT usage_limits, rate_limits FROM providers
        UNION ALL SELECT usage_limits, rate_limits FROM integration_workspaces`,
    );
    expect(rows).toHaveLength(4);
    const seen: string[] = [];
    for (const { budgets, rates } of rows)
      for (const limit of [budgets, rates].flat() as { id: string }[]) {
        expect(limit.id).toMatch(ids);
        seen.push(limit.id);
      }
    expect(new Set(seen).size).toBe(9);
    const key = await client.query(
      `SELECT usage_limit_id::text = usage_limits ->> 'id' AS same FROM api_keys`,
    );
    expect(key.rows).toEqual([{ same: true }]);
    const policy = await client.query('SELECT value FROM rate_limits_policies');
    expect(policy.rows).toEqual([{ value: 1 }]);
    const workspace = await client.query('SELECT revision::int FROM workspaces');
    expect(workspace.rows).toEqual([{ revision: 2 }]);
  } finally {
    await client.end();
  }
});

const id = (last: number) => `'01f1c2d3-0000-7000-8000-00000000000${last}'`;
const budget = '{"credit_limit":5,"type":"cost"}';
const rate = '[{"type":"requests","unit":"rpm","value":5}]';
const filling = `
  INSERT INTO organisations (id, name, audit_hash) VALUES (${id(1)}, 'o', '\\x00');
  INSERT INTO workspaces (id, organisation_id, slug, name, revision, usage_limits, rate_limits)
    VALUES (${id(2)}, ${id(1)}, 'w', 'w', 1, '[${budget},{"credit_limit":900,"type":"tokens"}]', '${rate}');
  INSERT INTO api_keys (id, organisation_id, workspace_id, type, name, slug, scopes, usage_limits, rate_limits)
    VALUES (${id(3)}, ${id(1)}, ${id(2)}, 'workspace-service', 'k', 'k', '{}', '${budget}', '${rate}');
  INSERT INTO integrations (id, organisation_id, slug, ai_provider_id, name, sealed_credentials)
    VALUES (${id(4)}, ${id(1)}, 'i', 'openai', 'i', '\\x00');
  INSERT INTO integration_workspaces (integration_id, workspace_id, enabled, usage_limits, rate_limits)
    VALUES (${id(4)}, ${id(2)}, true, '[${budget}]', '${rate}');
  INSERT INTO providers (id, organisation_id, workspace_id, integration_id, slug, name, usage_limits, rate_limits)
    VALUES (${id(5)}, ${id(1)}, ${id(2)}, ${id(4)}, 'p', 'p', '${budget}', '${rate}');
  INSERT INTO rate_limits_policies (id, organisation_id, workspace_id, conditions, group_by, type, unit, value)
    VALUES (${id(6)}, ${id(1)}, ${id(2)}, '[]', '[]', 'requests', 'rpm', 1.9);
`;
