import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecrets, freePorts, type Sluice, startSluice } from '@sluice/stack';
import { buildService } from '../build.ts';
import { type AdminCall, adminCaller } from './admin-call.ts';
import { pin } from './cores.ts';
import { openCrowdedWorkspace } from './crowded-workspace.ts';
import { type GuardedPlaces, openGuardedWorkspaces } from './guarded-workspaces.ts';
import { openKeepingWorkspaces } from './keeping-workspaces.ts';
import { openLimitedWorkspaces } from './limited-workspaces.ts';
import { openRoutingWorkspace } from './routing-workspace.ts';
import { firstAnswer, type Subject, type SubjectPlace } from './subject.ts';
import { openTools } from './tool-places.ts';

/**
 * All of Sluice as users run it, at its default settings but that bodies are
 * not kept, which is a figure of its own, the gateway built as for an image: key authentication, two policies, a saved provider, a usage
 * record sent to the data service, metrics, a line of the log. Only the gateway
 * counts and has the measured core.
 */
export async function startWholeSluice(
  { upstreamOrigin, core, signal }: SubjectPlace,
  restCore: string | undefined,
): Promise<Subject> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  // Our own core first: what we start inherits it, threads included.
  pin(process.pid, restCore);
  let sluice: Sluice | undefined;
  const stop = async (): Promise<void> => {
    await sluice?.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    const gateway = await buildService('gateway');
    const ports = await freePorts();
    sluice = await startSluice(
      {
        dataDir,
        ports,
        secrets: createSecrets(),
        restart: false,
        builtServices: { gateway },
        partEnvironment: {
          gateway: { ...wideConfigs, ...manySessions },
          'control-plane': wideConfigs,
        },
      },
      signal,
    );
    return await prepare(sluice, ports.gatewayMetrics);
  } catch (error) {
    await stop();
    throw error;
  }

  async function prepare(sluice: Sluice, metricsPort: number): Promise<Subject> {
    const gateway = sluice.parts.get('gateway')!;
    const {
      base_url: baseUrl,
      admin_key: adminKey,
      workspace_key: key,
      workspace_id: workspaceId,
    } = sluice.credentials;
    const call = adminCaller({ baseUrl, adminKey });
    await createProvider(call, workspaceId, upstreamOrigin, 'openai', 'bench');
    await createProvider(call, workspaceId, upstreamOrigin, 'anthropic', 'claude');
    await call('PUT', '/admin/organisation/settings', {
      request_logging: { mode: 'metrics' },
      workspace_overrides: { request_logging: true },
    });
    await createRateLimit(call, workspaceId, 'requests');
    await createRateLimit(call, workspaceId, 'tokens');
    const url = `${baseUrl}/chat/completions`;
    const headers = { 'x-service-api-key': key, 'x-service-provider': '@bench' };
    const pid = (): number => {
      if (gateway.pid === undefined)
        throw new Error(
          `The gateway is gone. The end of its stderr:\n${gateway.stderr().slice(-2000)}`,
        );
      return gateway.pid;
    };
    pin(pid(), core);
    await firstAnswer(url, headers, signal);
    let guarded: Promise<GuardedPlaces> | undefined;
    return {
      name: 'sluice',
      url,
      headers,
      translated: { url, headers: { ...headers, 'x-service-provider': '@claude' } },
      pid,
      haltRest: () => haltRest(sluice),
      openRoutingWorkspace: () =>
        openRoutingWorkspace({
          baseUrl,
          adminKey,
          databaseUrl: sluice.databaseUrl,
          upstreamOrigin,
        }),
      openLimitedWorkspaces: () => openLimitedWorkspaces({ baseUrl, adminKey, upstreamOrigin }),
      openKeepingWorkspaces: () => openKeepingWorkspaces({ baseUrl, adminKey, upstreamOrigin }),
      // Two measurements ask for them.
      openGuardedWorkspaces: () =>
        (guarded ??= openGuardedWorkspaces({ baseUrl, adminKey, upstreamOrigin })),
      openTools: () => openTools({ baseUrl, adminKey, workspaceId, upstreamOrigin }),
      openCrowdedWorkspace: () =>
        openCrowdedWorkspace({ baseUrl, adminKey, databaseUrl: sluice.databaseUrl }),
      async restart() {
        await gateway.stop();
        const startedAt = performance.now();
        // It starts on the core of the rest, which is idle meanwhile, and moves when it has answered.
        await gateway.start();
        await firstAnswer(url, headers, signal);
        const elapsedMs = performance.now() - startedAt;
        pin(pid(), core);
        return elapsedMs;
      },
      metricsUrl: () => `http://127.0.0.1:${metricsPort}/metrics`,
      warnings: () => gateway.stderr().match(/MaxListenersExceededWarning/g)?.length ?? 0,
      stop,
    };
  }
}

async function createProvider(
  call: AdminCall,
  workspaceId: string,
  upstreamOrigin: string,
  aiProviderId: string,
  slug: string,
): Promise<void> {
  await call('POST', '/integrations', {
    name: `Bench upstream, ${aiProviderId}`,
    slug,
    ai_provider_id: aiProviderId,
    key: 'sk-bench',
    workspace_id: workspaceId,
    configurations: { custom_host: `${upstreamOrigin}/v1` },
    create_default_provider: true,
    default_provider_slug: slug,
  });
}

/** Wide enough never to refuse: the counting is what is measured. */
async function createRateLimit(
  call: AdminCall,
  workspaceId: string,
  type: 'requests' | 'tokens',
): Promise<void> {
  await call('POST', '/policies/rate-limits', {
    name: `Bench limit of ${type}`,
    workspace_id: workspaceId,
    type,
    unit: 'rpm',
    // A minute at full speed is 200 million tokens.
    value: 100_000_000_000,
    conditions: [{ key: 'workspace_id', value: workspaceId }],
    group_by: [{ key: 'api_key' }],
  });
}

/**
 * Control plane, data service and Postgres share a core with the load
 * generator here, and their bursts would be measured as latency of the
 * gateway. The gateway answers without them; that is one of its promises.
 */
function haltRest(sluice: Sluice): () => void {
  const pids = [...sluice.parts]
    .filter(([name]) => name === 'data-service' || name === 'control-plane')
    .flatMap(([, part]) => part.pid ?? []);
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  return () => {
    for (const pid of pids) process.kill(pid, 'SIGCONT');
  };
}

/** One config of the workspace has far more targets than the default lets through. */
const wideConfigs = { MAX_ROOT_CONFIG_TARGETS: '1000' };

/** All sessions of the bench are of one key. */
const manySessions = { REALTIME_KEY_SESSIONS_MAX: '5000' };
