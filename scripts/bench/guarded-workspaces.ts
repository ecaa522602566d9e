import { adminCaller } from './admin-call.ts';

/** Headers of the same request in workspaces that differ in their guardrails alone. */
export interface GuardedPlaces {
  without: Readonly<Record<string, string>>;
  /** Saved guardrails for which nobody asks. */
  saved: Readonly<Record<string, string>>;
  /** Three patterns, on the last message. */
  patterns: Readonly<Record<string, string>>;
  /** The same as saved guardrails, which write feedback to the ledger. */
  savedPatterns: Readonly<Record<string, string>>;
  /** Everything personal, in all texts. */
  personal: Readonly<Record<string, string>>;
  /** The same of streamed answers, which are held back for it. */
  held: Readonly<Record<string, string>>;
}

export interface GuardedWorkspacesOptions {
  baseUrl: string;
  adminKey: string;
  upstreamOrigin: string;
}

export const savedGuardrails = 200;

/** None finds anything: looking is what is measured. */
export async function openGuardedWorkspaces(
  options: GuardedWorkspacesOptions,
): Promise<GuardedPlaces> {
  const call = adminCaller(options);
  const open = async (
    slug: string,
    guardrails: readonly object[],
    config: (saved: readonly string[]) => object,
  ) => {
    const { id: workspace } = await call<{ id: string }>('POST', '/admin/workspaces', {
      name: `Guardrails bench, ${slug}`,
    });
    await call('POST', '/integrations', {
      name: 'Bench upstream',
      slug: `bench-guarded-${slug}`,
      ai_provider_id: 'openai',
      key: 'sk-bench',
      workspace_id: workspace,
      configurations: { custom_host: `${options.upstreamOrigin}/v1` },
      create_default_provider: true,
      default_provider_slug: 'bench',
    });
    const saved: string[] = [];
    for (const [number, check] of guardrails.entries()) {
      const { slug: guardrail } = await call<{ slug: string }>('POST', '/guardrails', {
        name: `Saved ${number}`,
        workspace_id: workspace,
        checks: [check],
        actions: { deny: true },
      });
      saved.push(guardrail);
    }
    const { data } = await call<{ data: { slug: string } }>('POST', '/configs', {
      name: 'Bench',
      workspace_id: workspace,
      config: { provider: '@bench', ...config(saved) },
    });
    const { key } = await call<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'Guardrails bench',
      workspace_id: workspace,
      scopes: ['completions.write'],
    });
    return { 'x-service-api-key': key, 'x-service-config': data.slug };
  };
  const patterns = ['(?:secret|hidden)\\s+plan', '\\b\\d{3}-\\d{2}-\\d{4}\\b', '[A-Z]{4}\\d{6}'];
  const matching = patterns.map((rule) => ({ rule, not: true }));
  const words = Array.from({ length: savedGuardrails }, (_, number) => ({
    id: 'default.contains',
    parameters: { words: [`w${number}`] },
  }));
  return {
    without: await open('without', [], () => ({})),
    saved: await open('saved', words, () => ({})),
    patterns: await open('patterns', [], () => ({
      input_guardrails: matching.map((parameters) => ({ 'default.regexMatch': parameters })),
    })),
    savedPatterns: await open(
      'saved-patterns',
      matching.map((parameters) => ({ id: 'default.regexMatch', parameters })),
      (saved) => ({ input_guardrails: saved }),
    ),
    personal: await open('personal', [], () => ({
      input_guardrails: [{ 'default.pii': { subjects: ['all'] } }],
    })),
    held: await open('held', [], () => ({
      output_guardrails: [
        {
          stream_mode: 'window',
          hold_ms: 30_000,
          'default.pii': { redact: true, subjects: ['all'] },
        },
      ],
    })),
  };
}
