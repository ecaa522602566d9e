import { Client } from 'pg';
import { adminCaller } from './admin-call.ts';
import type { VariedHeader } from './load-job.ts';

/** How many configs the workspace has, and how many inline documents are sent. */
export const configCount = 100_000;
export const wideTargets = 1_000;

/** Headers of the requests that are compared, all of the same workspace, key and provider. */
export interface RoutingPlaces {
  plain: RoutingPlace;
  /** One saved config, a load balance over many targets. */
  wide: RoutingPlace;
  /** Any of the saved configs. */
  saved: RoutingPlace;
  /** A document of its own with each request. */
  inline: RoutingPlace;
  /** Changes one config, so that every gateway fetches the workspace again. */
  changeOneConfig(): Promise<void>;
}

export interface RoutingPlace {
  headers: Readonly<Record<string, string>>;
  varied?: VariedHeader;
}

export interface RoutingWorkspaceOptions {
  baseUrl: string;
  adminKey: string;
  databaseUrl: string;
  upstreamOrigin: string;
}

/**
 * A workspace of its own, so that what is measured elsewhere has none of it:
 * provider and rate limit like the other's, and 100,000 configs. Those are
 * written into Postgres directly, as the admin API would take an hour; one more
 * goes through the API, which tells the gateway.
 */
export async function openRoutingWorkspace(
  options: RoutingWorkspaceOptions,
): Promise<RoutingPlaces> {
  const call = adminCaller(options);
  const { id: workspace } = await call<{ id: string }>('POST', '/admin/workspaces', {
    name: 'Routing bench',
  });
  await call('POST', '/integrations', {
    name: 'Bench upstream',
    slug: 'bench-routing',
    ai_provider_id: 'openai',
    key: 'sk-bench',
    workspace_id: workspace,
    configurations: { custom_host: `${options.upstreamOrigin}/v1` },
    create_default_provider: true,
    default_provider_slug: 'bench',
  });
  await call('POST', '/policies/rate-limits', {
    name: 'Bench limit',
    workspace_id: workspace,
    type: 'requests',
    unit: 'rpm',
    value: 100_000_000,
    conditions: [{ key: 'workspace_id', value: workspace }],
    group_by: [{ key: 'api_key' }],
  });
  const { key } = await call<{ key: string }>('POST', '/api-keys/workspace/service', {
    name: 'Routing bench',
    workspace_id: workspace,
    scopes: ['completions.write'],
  });
  await insertConfigs(options.databaseUrl, workspace);
  const { data } = await call<{ data: { slug: string } }>('POST', '/configs', {
    name: 'Wide',
    workspace_id: workspace,
    config: wideDocument(),
  });
  const own = { 'x-service-api-key': key };
  const config = 'x-service-config';
  return {
    plain: { headers: { ...own, 'x-service-provider': '@bench' } },
    wide: { headers: { ...own, [config]: data.slug } },
    saved: {
      headers: own,
      varied: { name: config, before: savedPrefix, after: '', count: configCount },
    },
    inline: { headers: own, varied: { name: config, ...aroundNumber(), count: configCount } },
    async changeOneConfig() {
      await call('PUT', `/configs/${data.slug}`, { name: 'Wide', config: wideDocument() });
    },
  };
}

const savedPrefix = 'pc-bench-';

function wideDocument(): object {
  return {
    strategy: { mode: 'loadbalance' },
    targets: Array.from({ length: wideTargets }, (_, index) => ({
      provider: '@bench',
      weight: 1 + (index % 3),
      request_timeout: 30_000,
    })),
  };
}

/**
 * A config of common size, each number another. None of its settings changes
 * the body: editing it costs the same with or without a config.
 */
function document(number: string): string {
  return JSON.stringify({
    strategy: { mode: 'fallback', on_status_codes: [429, 500, 503] },
    retry: { attempts: 2, on_status_codes: [429, 503] },
    targets: [
      { name: `caller-${number}`, provider: '@bench', request_timeout: 30_000 },
      { name: `second-${number}`, provider: '@bench', request_timeout: 60_000 },
    ],
  });
}

/** An inline document with one number in it, split at its place. */
function aroundNumber(): { before: string; after: string } {
  const [before, ...rest] = document('#').split('#');
  return { before: before ?? '', after: rest.join('0') };
}

async function insertConfigs(databaseUrl: string, workspaceSlug: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `WITH made AS (
         INSERT INTO configs (id, organisation_id, workspace_id, slug, name, version, owner_id, updated_by)
         SELECT gen_random_uuid(), w.organisation_id, w.id, $2 || n, 'Bench ' || n, 1, w.id, w.id
         FROM workspaces w, generate_series(0, $3::int - 1) AS n WHERE w.slug = $1
         RETURNING id, slug
       )
       INSERT INTO config_versions (id, config_id, version, name, status, body, created_by)
       SELECT gen_random_uuid(), id, 1, 'Bench', 'active', replace($4, '#', substr(slug, length($2) + 1)), id
       FROM made`,
      [workspaceSlug, savedPrefix, configCount, document('#')],
    );
  } finally {
    await client.end();
  }
}
