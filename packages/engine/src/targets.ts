import { type ConfigNode, configPath } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';

/**
 * A config resolved for routing: its targets with everything they inherit,
 * computed once per config version. Strategies other than a single target are
 * refused here, with the path, until the engine can run them.
 */

/** One place to send a request, after inheritance. Undefined = not said by the config. */
export interface ResolvedTarget {
  /** JSON path in the config, as callers see it: `config`, `config.targets[0]` … */
  path: string;
  /** Catalogue id or `@slug`, possibly `@slug/model`. Undefined = taken from the request. */
  provider: string | undefined;
  apiKey: string | undefined;
  customHost: string | undefined;
  requestTimeoutMs: number | undefined;
  forwardHeaders: readonly string[] | undefined;
  strictOpenAiCompliance: boolean | undefined;
  overrideParams: Readonly<Record<string, unknown>> | undefined;
  defaultParams: Readonly<Record<string, unknown>> | undefined;
  /** Provider-specific settings such as openai_organization. */
  configurations: Readonly<Record<string, unknown>>;
}

export interface CompiledConfig {
  strategyMode: string;
  target: ResolvedTarget;
  /** False when only hooks, retries and the like are configured and the request names the provider. */
  namesProvider: boolean;
}

/** @throws GatewayError `config.invalid` for what cannot be run yet, with its path. */
export function compileConfig(root: ConfigNode): CompiledConfig {
  let node: ConfigNode = root;
  let path: PropertyKey[] = [];
  let mode = 'single';
  const line: ConfigNode[] = [root];
  while (node.targets !== undefined) {
    mode = node.strategy?.mode ?? 'single';
    const supported = mode === 'single' || node.targets.length === 1;
    const first = node.targets[0];
    if (!supported || first === undefined)
      throw notYet(
        [...path, 'strategy', 'mode'],
        `strategy "${mode}" over several targets is not available in this release`,
      );
    path = [...path, 'targets', 0];
    node = first;
    line.push(node);
  }
  for (const [index, ancestor] of line.entries()) {
    const at = index === line.length - 1 ? path : path.slice(0, index * 2);
    for (const key of notYetAvailable)
      if (ancestor[key] !== undefined)
        throw notYet([...at, key], 'is not available in this release');
    if (ancestor.retry !== undefined && ancestor.retry.attempts > 0)
      throw notYet([...at, 'retry', 'attempts'], 'is not available in this release');
  }
  return {
    strategyMode: mode,
    target: resolveTarget(line, path),
    namesProvider: providerOf(line) !== undefined,
  };
}

/** Silently ignoring these would change what the caller was promised; refusing is honest. */
const notYetAvailable = [
  'cache',
  'input_guardrails',
  'output_guardrails',
  'before_request_hooks',
  'after_request_hooks',
  'input_mutators',
  'output_mutators',
  'prompt_id',
  'drop_params',
] as const;

function notYet(path: readonly PropertyKey[], what: string): GatewayError {
  const field = configPath(path);
  return new GatewayError('config.invalid', {
    message: `${field} ${what}.`,
    field,
    faults: [`path: ${field}, message: ${what}`],
  });
}

function resolveTarget(line: readonly ConfigNode[], path: readonly PropertyKey[]): ResolvedTarget {
  const leaf = line.at(-1) ?? {};
  return {
    path: configPath(path),
    provider: providerOf(line),
    apiKey: leaf.api_key,
    customHost: nearest(line, 'custom_host'),
    requestTimeoutMs: nearest(line, 'request_timeout'),
    forwardHeaders: nearest(line, 'forward_headers'),
    // Off anywhere on the way down means off.
    strictOpenAiCompliance: nearest(line, 'strict_open_ai_compliance'),
    overrideParams: merged(line, 'override_params'),
    defaultParams: merged(line, 'default_params'),
    configurations: configurationsOf(leaf),
  };
}

function providerOf(line: readonly ConfigNode[]): string | undefined {
  const leaf = line.at(-1);
  if (leaf?.virtual_key !== undefined) return `@${leaf.virtual_key.replace(/^@/, '')}`;
  return leaf?.provider;
}

function nearest<K extends keyof ConfigNode>(
  line: readonly ConfigNode[],
  key: K,
): ConfigNode[K] | undefined {
  for (let index = line.length - 1; index >= 0; index--) {
    const value = line[index]?.[key];
    if (value !== undefined) return value;
  }
  return undefined;
}

function merged(
  line: readonly ConfigNode[],
  key: 'override_params' | 'default_params',
): Record<string, unknown> | undefined {
  const parts = line.map((node) => node[key]).filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : Object.assign({}, ...parts);
}

const routingKeys = new Set([
  'id',
  'name',
  'provider',
  'virtual_key',
  'passthrough',
  'prompt_id',
  'weight',
  'strategy',
  'targets',
  'retry',
  'cache',
  'cb_config',
  'request_timeout',
  'override_params',
  'default_params',
  'drop_params',
  'custom_host',
  'forward_headers',
  'strict_open_ai_compliance',
  'api_key',
  'fetch_integrated_models',
  'on_status_codes',
]);

function configurationsOf(leaf: ConfigNode): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(leaf).filter(([key, value]) => !routingKeys.has(key) && value !== undefined),
  );
}
