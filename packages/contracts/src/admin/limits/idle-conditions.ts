import { longMetadataWhy, metadataValueMax } from '../../metadata-values.ts';
import { type OperationId, operations } from '../../operations/operations.ts';
import type { IdleField, Shown } from '../kernel/idle-fields.ts';
import type { PolicyCondition } from './policy-conditions.ts';

/** Keys of which a request has one value at most; the others it may have under two names. */
const saidOnce = /^(?:provider|virtual_key|config|prompt|metadata\..+)$/;

/** What budgets know of models alone, and what of tools alone: nothing that is counted is both. */
const ofModels: ReadonlySet<string> = new Set(['model', 'config', 'prompt']);
const ofTools: ReadonlySet<string> = new Set(['mcp_server', 'mcp_tool']);

/** Conditions of a policy that no request meets, alone or with those before them. */
export function idleConditions(policy: Shown): readonly IdleField[] {
  const conditions = (policy.conditions ?? []) as readonly PolicyCondition[];
  return conditions.flatMap((condition, index) => {
    const path = `conditions[${index}]`;
    const why = contradiction(condition, conditions.slice(0, index));
    return [
      ...(why === undefined ? [] : [{ path, why }]),
      ...(condition.key.startsWith('metadata.') ? longValues(condition, path) : []),
      ...(condition.key === 'endpoint_type' ? idleEndpoints(condition.value, `${path}.value`) : []),
    ];
  });
}

function contradiction(
  condition: PolicyCondition,
  before: readonly PolicyCondition[],
): string | undefined {
  const { key } = condition;
  const values = textsOf(condition.value);
  const excluded = textsOf(condition.excludes);
  if (excluded.includes('*') || values.every((value) => excluded.includes(value)))
    return 'excludes all that it names, so that no request meets it';
  const other = before.findIndex((each) => cannotBoth(each, key, values));
  if (other < 0) return undefined;
  return `no request meets this and conditions[${other}]; values of which any may be met stand in one condition`;
}

function cannotBoth(other: PolicyCondition, key: string, values: readonly string[]): boolean {
  if (ofModels.has(key) && ofTools.has(other.key)) return true;
  if (ofTools.has(key) && ofModels.has(other.key)) return true;
  if (other.key !== key || !saidOnce.test(key)) return false;
  const others = textsOf(other.value);
  const isOpen = [...values, ...others].some((value) => value.endsWith('*'));
  return !isOpen && !values.some((value) => others.includes(value));
}

/** Case and surrounding spaces make no difference. */
function textsOf(value: string | readonly string[] = []): string[] {
  return [value].flat().map((each) => each.trim().toLowerCase());
}

/** Before a star, or whole. */
function longValues(condition: PolicyCondition, path: string): IdleField[] {
  const isLong = (text: string) => text.trim().replace(/\*$/, '').length > metadataValueMax;
  return (['value', 'excludes'] as const).flatMap((field) => {
    const said = condition[field] ?? [];
    return placesOf(said, `${path}.${field}`)
      .filter(({ text }) => isLong(text))
      .map((place) => ({ path: place.path, why: longMetadataWhy }));
  });
}

function placesOf(value: string | readonly string[], path: string) {
  return [value].flat().map((text, index) => ({
    text,
    path: Array.isArray(value) ? `${path}[${index}]` : path,
  }));
}

/** Endpoints whose requests meet no rates of models. */
function idleEndpoints(value: PolicyCondition['value'], path: string): IdleField[] {
  return placesOf(value, path).flatMap(({ text, path: at }) => {
    const why = whyUnlimited(text);
    return why === undefined ? [] : [{ path: at, why }];
  });
}

function whyUnlimited(name: string): string | undefined {
  const id = idsByText.get(name.trim().toLowerCase());
  if (id === undefined) return undefined;
  const { about, spends } = operations[id];
  if (spends === 'nothing') return 'limits count no requests of it';
  if (about === 'prompt')
    return 'a prompt counts as what it asks for (chatComplete, complete); prompts are named by the key prompt';
  if (about === 'tool') return 'calls of tools are limited by target mcp_tools, and by budgets';
  if (about === 'agent') return 'calls of agents are limited by budgets';
  return undefined;
}

const idsByText: ReadonlyMap<string, OperationId> = new Map(
  Object.keys(operations).map((id) => [id.toLowerCase(), id as OperationId]),
);
