import type { ConfigNode } from './config.ts';
import type { ConfigFault } from './config-caps.ts';

/**
 * Rules between the fields of a document that a schema of single fields cannot
 * state. Recursion is as deep as the document, which the caps bound.
 */
export function configFaults(root: ConfigNode, isSaving: boolean, faultsMax: number) {
  const faults: ConfigFault[] = [];
  const visit = (node: ConfigNode, path: string): void => {
    if (faults.length >= faultsMax) return;
    checkStrategy(node, path, isSaving, faults);
    checkReference(node, path, faults);
    checkForwardHeaders(node, path, faults);
    checkCache(node, path, faults);
    if (isSaving && !saysSomething(node))
      faults.push({
        field: path,
        message:
          'must name where to send requests (virtual_key, provider with a credential, targets, config) or hold a setting such as retry, cache, hooks or params',
      });
    for (const [index, target] of (node.targets ?? []).entries())
      visit(target, `${path}.targets[${index}]`);
  };
  visit(root, 'config');
  return faults.slice(0, faultsMax);
}

function checkStrategy(
  node: ConfigNode,
  path: string,
  isSaving: boolean,
  faults: ConfigFault[],
): void {
  const { strategy, targets } = node;
  const at = `${path}.strategy`;
  if (targets === undefined) {
    if (strategy !== undefined)
      faults.push({ field: `${path}.targets`, message: 'is required beside a strategy' });
    return;
  }
  if (node.prompt_id !== undefined && isSaving)
    faults.push({ field: `${path}.prompt_id`, message: 'belongs to a target, not beside targets' });
  const names = checkNames(targets, path, faults);
  if (strategy === undefined) return;
  if (strategy.mode === 'loadbalance' && targets.every((target) => target.weight === 0))
    faults.push({
      field: `${path}.targets`,
      message: 'must not all have weight 0: no target could ever be chosen',
    });
  if (strategy.sticky?.enabled === true && isSaving) checkSticky(node, at, faults);
  if (strategy.mode !== 'conditional') return;
  if (strategy.conditions === undefined || strategy.conditions.length === 0)
    faults.push({ field: `${at}.conditions`, message: 'must hold at least one condition' });
  for (const [index, condition] of (strategy.conditions ?? []).entries())
    if (!names.has(condition.then))
      faults.push({
        field: `${at}.conditions[${index}].then`,
        message: `must be the name of one of the targets beside it; none is called "${condition.then.slice(0, 80)}"`,
      });
  if (strategy.default === undefined) {
    if (isSaving) faults.push({ field: `${at}.default`, message: 'is required' });
  } else if (!names.has(strategy.default))
    faults.push({
      field: `${at}.default`,
      message: `must be the name of one of the targets beside it; none is called "${strategy.default.slice(0, 80)}"`,
    });
}

/** Settings that would do nothing are a misunderstanding of what is kept for whom. */
function checkCache({ cache }: ConfigNode, path: string, faults: ConfigFault[]): void {
  if (cache === undefined || cache.mode === 'semantic') return;
  for (const key of ['similarity_threshold', 'embedding', 'shadow'] as const)
    if (cache[key] !== undefined)
      faults.push({
        field: `${path}.cache.${key}`,
        message: 'is of the semantic cache only: set mode to "semantic"',
      });
}

function checkNames(
  targets: readonly ConfigNode[],
  path: string,
  faults: ConfigFault[],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, { name }] of targets.entries()) {
    if (name === undefined) continue;
    if (names.has(name))
      faults.push({
        field: `${path}.targets[${index}].name`,
        message: 'must be unique among the targets of its strategy',
      });
    names.add(name);
  }
  return names;
}

function checkSticky(node: ConfigNode, at: string, faults: ConfigFault[]): void {
  const { hash_fields: fields = [], ttl } = node.strategy?.sticky ?? {};
  if (ttl !== undefined && fields.includes('prompt.prefix'))
    faults.push({
      field: `${at}.sticky.ttl`,
      message:
        'has no meaning beside prompt.prefix, by which a conversation stays for as long as it goes on',
    });
  if (node.strategy?.mode !== 'loadbalance')
    faults.push({ field: `${at}.sticky`, message: 'belongs to the mode loadbalance' });
  if (fields.length === 0)
    faults.push({
      field: `${at}.sticky.hash_fields`,
      message: 'must name at least one field, e.g. metadata.user_id',
    });
}

/** What a referenced config says itself. */
const ownedByReference = [
  'provider',
  'virtual_key',
  'passthrough',
  'prompt_id',
  'targets',
  'strategy',
] as const;

function checkReference(node: ConfigNode, path: string, faults: ConfigFault[]): void {
  if (node.config === undefined) return;
  for (const key of ownedByReference)
    if (node[key] !== undefined)
      faults.push({ field: `${path}.${key}`, message: 'must not stand beside config' });
}

const neverForwarded = new Set([
  'metadata-flavor',
  'x-aws-ec2-metadata-token',
  'x-google-metadata-request',
]);

/** A header that lists headers would make chained gateways loop; the prefix is a setting. */
const forwardHeadersName = /^x-[a-z0-9-]+-forward-headers$/i;

function checkForwardHeaders(node: ConfigNode, path: string, faults: ConfigFault[]): void {
  for (const [index, name] of (node.forward_headers ?? []).entries())
    if (forwardHeadersName.test(name.trim()) || neverForwarded.has(name.trim().toLowerCase()))
      faults.push({
        field: `${path}.forward_headers[${index}]`,
        message: `must not be ${name.trim().toLowerCase().slice(0, 80)}: this header is never forwarded`,
      });
}

/** Each of these makes a node useful by itself. */
const sufficientKeys = [
  'virtual_key',
  'targets',
  'config',
  'cache',
  'prompt_cache',
  'retry',
  'prompt_id',
  'forward_headers',
  'request_timeout',
  'first_byte_timeout',
  'idle_timeout',
  'hedge',
  'before_request_hooks',
  'after_request_hooks',
  'input_guardrails',
  'output_guardrails',
  'input_mutators',
  'output_mutators',
  'default_input_guardrails',
  'default_output_guardrails',
  'passthrough',
  'default_params',
  'override_params',
  'drop_params',
  'cb_config',
] as const;

/** Providers that ask for no credential. */
const keylessProviders = new Set(['ollama', 'triton']);

function saysSomething(node: ConfigNode): boolean {
  if (sufficientKeys.some((key) => node[key] !== undefined)) return true;
  const { provider } = node;
  if (provider === undefined) return false;
  return (
    provider.startsWith('@') ||
    keylessProviders.has(provider.toLowerCase()) ||
    node.api_key !== undefined ||
    node.custom_host !== undefined ||
    (node.aws_access_key_id !== undefined && node.aws_secret_access_key !== undefined) ||
    (node.vertex_region !== undefined &&
      (node.vertex_service_account_json !== undefined || node.vertex_project_id !== undefined)) ||
    (node.resource_name !== undefined && node.deployment_id !== undefined) ||
    node.deployments !== undefined ||
    node.azure_endpoint_name !== undefined ||
    node.azure_deployment_name !== undefined
  );
}
