import { type ConfigNode, credentialKeys } from './config.ts';
import { type IdleSetting, idleActions } from './idle-actions.ts';
import { longMetadataWhy, metadataValueMax } from './metadata-values.ts';

/** What of a check's parameters does nothing, by the check's id; paths within them. */
export type IdleParameters = (checkId: string, parameters: unknown) => readonly IdleSetting[];

/** More of them help nobody. */
const idleMax = 20;

/** What is read of the target that is asked, and handed down by none of the nodes around it. */
const ofTargets = [
  'provider',
  'virtual_key',
  'passthrough',
  ...credentialKeys,
  'vertex_service_account_json',
  'deployments',
] as const satisfies readonly (keyof ConfigNode)[];

/**
 * What of a document does nothing where it stands. It is taken all the same: documents that were written for others, or
 * are being rebuilt, have such settings, and mean no harm by them; but who saves one is told.
 */
export function idleSettings(
  root: ConfigNode,
  ofCheck: IdleParameters = () => [],
): readonly IdleSetting[] {
  const idle: IdleSetting[] = [];
  const hasBreakers = holdsBreaker(root);
  const visit = (node: ConfigNode, path: string, isRoot: boolean): void => {
    if (idle.length >= idleMax) return;
    const tell = (key: string, why: string) => idle.push({ path: `${path}.${key}`, why });
    if (node.on_status_codes !== undefined)
      tell('on_status_codes', 'a fallback has it as strategy.on_status_codes, a retry in retry');
    if (isRoot && node.weight !== undefined) tell('weight', weightWhy);
    if (!isRoot && node.fetch_integrated_models !== undefined)
      tell('fetch_integrated_models', 'it is read at the top of a document alone');
    tellOfRetry(node, tell);
    tellOfHooks(node, ofCheck, tell);
    if (node.targets === undefined) tellOfTarget(node, tell);
    else tellOfStrategy(node, node.targets, hasBreakers, tell);
    for (const [index, target] of (node.targets ?? []).entries())
      visit(target, `${path}.targets[${index}]`, false);
  };
  visit(root, 'config', true);
  return idle.slice(0, idleMax);
}

type Tell = (key: string, why: string) => void;

const weightWhy = 'targets of the mode loadbalance have it';

/** `attempts: 0` alone says something: that nothing is inherited. */
function tellOfRetry({ retry }: ConfigNode, tell: Tell): void {
  if (retry?.attempts !== 0) return;
  for (const key of Object.keys(retry))
    if (key !== 'attempts') tell(`retry.${key}`, 'with retry.attempts 0 nothing is asked again');
}

const hookLists = [
  'before_request_hooks',
  'after_request_hooks',
  'input_guardrails',
  'output_guardrails',
  'default_input_guardrails',
  'default_output_guardrails',
] as const;

function tellOfHooks(node: ConfigNode, ofCheck: IdleParameters, tell: Tell): void {
  for (const list of hookLists)
    for (const [index, hook] of (node[list] ?? []).entries()) {
      if (typeof hook === 'string') continue;
      const at = `${list}[${index}]`;
      for (const { path, why } of idleActions(hook, false)) tell(`${at}.${path}`, why);
      for (const { id, parameters, path } of checksOf(hook))
        for (const idle of ofCheck(id, parameters))
          tell([`${at}.${path}`, idle.path].filter((part) => part !== '').join('.'), idle.why);
    }
}

interface SaidCheck {
  readonly id: string;
  readonly parameters: unknown;
  /** Of the parameters, within the hook. */
  readonly path: string;
}

/** Listed under `checks`, or as fields that are called like checks: settings of the hook are none. */
function checksOf(hook: Readonly<Record<string, unknown>>): readonly SaidCheck[] {
  const { checks } = hook;
  if (Array.isArray(checks))
    return checks.map((check: Partial<SaidCheck> | null, index) => ({
      id: withFamily(String(check?.id)),
      parameters: check?.parameters,
      path: `checks[${index}].parameters`,
    }));
  return Object.entries(hook).flatMap(([name, said]) => {
    if (typeof said !== 'object' || said === null) return [];
    const { id = name, is_enabled, isEnabled, ...parameters } = said as Record<string, unknown>;
    return [{ id: withFamily(String(id)), parameters, path: name }];
  });
}

function withFamily(id: string): string {
  return id.includes('.') ? id : `default.${id}`;
}

function tellOfTarget({ provider, virtual_key: key }: ConfigNode, tell: Tell): void {
  if (provider !== undefined && key !== undefined && bare(provider) !== bare(key))
    tell('provider', 'virtual_key names the provider');
}

function bare(name: string): string {
  return name.replace(/^@/, '');
}

function tellOfStrategy(
  node: ConfigNode,
  targets: readonly ConfigNode[],
  hasBreakers: boolean,
  tell: Tell,
): void {
  for (const key of ofTargets)
    if (node[key] !== undefined) tell(key, 'each target says it itself, and is handed none');
  const { mode = 'single', on_status_codes, conditions, default: otherwise } = node.strategy ?? {};
  const { sticky } = node.strategy ?? {};
  if (sticky?.enabled === false)
    for (const key of Object.keys(sticky))
      if (key !== 'enabled') tell(`strategy.sticky.${key}`, 'strategy.sticky.enabled is false');
  if (on_status_codes !== undefined && mode !== 'fallback')
    tell('strategy.on_status_codes', 'it belongs to the mode fallback');
  if (mode !== 'conditional') {
    if (conditions !== undefined)
      tell('strategy.conditions', 'they belong to the mode conditional');
    if (otherwise !== undefined) tell('strategy.default', 'it belongs to the mode conditional');
  } else
    for (const [index, { query }] of (conditions ?? []).entries())
      for (const path of longMetadataIn(query, `strategy.conditions[${index}].query`))
        tell(path, longMetadataWhy);
  for (const [index, { weight }] of targets.entries())
    if (weight !== undefined && mode !== 'loadbalance') tell(`targets[${index}].weight`, weightWhy);
  // While its circuit is open, the next one takes the place of the first.
  if (targets.length < 2 || hasBreakers) return;
  if (mode === 'single')
    tell(
      'targets[1]',
      node.strategy === undefined
        ? 'without a strategy the first target alone is asked'
        : 'the mode single asks the first target alone',
    );
  if (mode === 'fallback' && on_status_codes?.length === 0)
    tell(
      'targets[1]',
      'strategy.on_status_codes names no status by which a fallback goes on to it',
    );
}

/** Comparisons with a value of metadata that is longer than any that a request says; patterns may be long. */
function longMetadataIn(query: unknown, path: string): string[] {
  if (typeof query !== 'object' || query === null) return [];
  return Object.entries(query).flatMap(([key, asked]) => {
    const at = `${path}.${key}`;
    if (key === '$and' || key === '$or')
      return [asked].flat().flatMap((part, index) => longMetadataIn(part, `${at}[${index}]`));
    const compared =
      typeof asked === 'object' && asked !== null
        ? comparing.map((operator) => (asked as Record<string, unknown>)[operator])
        : [asked];
    const isLong = compared
      .flat()
      .some((value) => typeof value === 'string' && value.length > metadataValueMax);
    return key.startsWith('metadata.') && isLong ? [at] : [];
  });
}

const comparing = ['$eq', '$ne', '$in', '$nin'] as const;

function holdsBreaker(node: ConfigNode): boolean {
  return (
    node.cb_config !== undefined ||
    node.strategy?.cb_config !== undefined ||
    // What another document says is not known here.
    node.config !== undefined ||
    (node.targets ?? []).some(holdsBreaker)
  );
}
