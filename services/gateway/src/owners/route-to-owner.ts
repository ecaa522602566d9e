import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isStoredId } from '@sluice/contracts';
import {
  type CompiledConfig,
  compileConfig,
  directConfig,
  type PlanStep,
  type ResolvedTarget,
  type RoutePlan,
} from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { RecentMap } from '../chain/recent-map.ts';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { NamedObjects, OwnerNote } from '../exchange/named-objects.ts';
import type { Target } from '../exchange/target.ts';
import { idsInRequest } from './ids-in-request.ts';
import type { Known, OwnerNotes } from './owner-notes.ts';

/** Who and where a target of a config is. @throws GatewayError where it cannot be asked */
export type Resolve = (exchange: ModelExchange, target: ResolvedTarget) => Target;

/**
 * Where a request goes that names what stays at a provider: to the one who has
 * it, whatever its config would choose. Undefined = as the config says: nothing
 * is named, the caller names the provider, or there is but one to ask.
 * @throws GatewayError `object.owner_unknown`, `object.owners_differ`, `object.owners_unavailable`
 */
export function planForOwner(
  exchange: ModelExchange,
  notes: OwnerNotes,
  resolve: Resolve,
): RoutePlan | undefined | Promise<RoutePlan | undefined> {
  const { subject, key } = exchange;
  const ids = idsInRequest(exchange);
  if (ids.length === 0) return undefined;
  refuseOwn(ids, subject.operation.id);
  const organisationId = key?.source.organisationId ?? '';
  const known = ids.map(({ id }) => notes.of(organisationId, id));
  if (known.some((one) => one instanceof Promise))
    return Promise.all(known).then((all) => decide(exchange, ids, all));
  return decide(exchange, ids, known as Known[]);

  function decide(from: ModelExchange, named: NamedObjects['ids'], all: readonly Known[]) {
    subject.named = readOwners(from, named, all);
    const isAll = all.every((one) => one.isAll);
    return planOf(from, subject.named, isAll, resolve);
  }
}

/** Whose that is which a body names that flows. @throws GatewayError where it may not be named */
export async function ownersOf(
  exchange: ModelExchange,
  notes: OwnerNotes,
  ids: NamedObjects['ids'],
): Promise<NamedObjects> {
  refuseOwn(ids, exchange.subject.operation.id);
  const organisationId = exchange.key?.source.organisationId ?? '';
  const known = await Promise.all(ids.map(({ id }) => notes.of(organisationId, id)));
  return readOwners(exchange, ids, known);
}

/**
 * What of it another workspace has: of the rows of a file, which are read before anything is made of it, and may name more than a request.
 * @throws GatewayError `object.owners_unavailable` where that cannot be found out
 */
export async function othersInRows(
  exchange: ModelExchange,
  notes: OwnerNotes,
  ids: NamedObjects['ids'],
): Promise<NamedObjects['others']> {
  const organisationId = exchange.key?.source.organisationId ?? '';
  const others: NamedObjects['others'][number][] = [];
  for (let from = 0; from < ids.length; from += askedAtOnce) {
    const some = ids.slice(from, from + askedAtOnce);
    const ask = () => Promise.all(some.map(({ id }) => notes.of(organisationId, id, 'listed')));
    let known = await ask();
    for (let again = 0; known.some(({ isAll }) => !isAll); again++) {
      if (again === asksAgainMax) throw unavailable();
      await delay(askAgainMs);
      known = await ask();
    }
    others.push(...othersOf(exchange, some, known));
  }
  return others;
}

const askedAtOnce = 250;
/** Others may ask for many at the same time. */
const asksAgainMax = 8;
const askAgainMs = 300;

function readOwners(
  exchange: ModelExchange,
  ids: NamedObjects['ids'],
  known: readonly Known[],
): NamedObjects {
  const workspaceId = exchange.key?.source.workspaceId ?? '';
  let own: OwnerNote | undefined;
  for (const [index, { notes }] of known.entries()) {
    const { kind, field, isAddress } = ids[index] as NamedObjects['ids'][number];
    const mine = notes.find((note) => note.workspaceId === workspaceId);
    if (mine === undefined || isAddress === true) continue;
    if (own !== undefined && (own.origin !== mine.origin || own.account !== mine.account))
      throw new GatewayError('object.owners_differ', {
        field,
        message: `The ${kind} is kept by ${mine.provider}, and another object of the request by ${own.provider}.`,
      });
    own ??= mine;
    // A run has its assistant's model, unless it names one.
    const { operation, model } = exchange.subject;
    if (operation.about === 'object' && model === '' && mine.model !== '' && modelled.has(kind))
      exchange.subject.modelOfNamed = mine.model;
  }
  return { ids, own, others: othersOf(exchange, ids, known) };
}

function othersOf(
  { key }: ModelExchange,
  ids: NamedObjects['ids'],
  known: readonly Known[],
): NamedObjects['others'] {
  const workspaceId = key?.source.workspaceId ?? '';
  return ids.flatMap(({ id, field }, index) => {
    const notes = known[index]?.notes ?? [];
    const mine = notes.find((note) => note.workspaceId === workspaceId);
    return notes.flatMap((note) =>
      note.workspaceId !== workspaceId && note.origin !== mine?.origin
        ? [{ id, field, origin: note.origin }]
        : [],
    );
  });
}

const modelled: ReadonlySet<string> = new Set(['assistant', 'response', 'completion', 'video']);

function planOf(
  exchange: ModelExchange,
  { ids, own }: NamedObjects,
  isAll: boolean,
  resolve: Resolve,
): RoutePlan | undefined {
  const { subject, arrival } = exchange;
  const config = exchange.config?.compiled ?? directConfig;
  if (arrival.caller.provider !== undefined)
    // The caller's word goes before the config's, where an object has an owner.
    return config.namesProvider && own !== undefined ? planned(directTarget) : undefined;
  if (config === directConfig && subject.model.startsWith('@') && subject.model.includes('/'))
    return undefined;
  if (own !== undefined) return planned(targetOfOwner(exchange, config, own, resolve));
  const isOpen = ({ isAddress, mayBeCommon }: NamedObjects['ids'][number]) =>
    isAddress === true || mayBeCommon === true;
  if (config.targets.length <= 1 || ids.every(isOpen)) return undefined;
  if (subject.operation.repeat !== 'safe') throw isAll ? unknown(ids) : unavailable();
  // Who only looks may ask everybody.
  const steps = config.targets.map((target): PlanStep => ({ kind: 'target', target }));
  return plan({ kind: 'fallback', path: 'config', onStatusCodes: notThere, steps });
}

/** What is kept here was looked for before there was a target: no provider is shown its ids. */
function refuseOwn(ids: NamedObjects['ids'], operation: string): void {
  for (const { kind, id, field } of ids) {
    // Some vendors take the lines of a file with a batch: whoever makes it says which.
    if (kind === 'file' && isStoredId(kind, id) && operation !== 'createBatch') refuseFile(field);
    if (kind !== 'response' && kind !== 'conversation') continue;
    if (isStoredId(kind, id))
      throw new GatewayError(`${kind}.not_found`, {
        field,
        message: `The ${kind} is kept by the service, which cannot be asked this of it.`,
      });
    // One in the place of the other is nobody else's either.
    if (isStoredId('response', id) || isStoredId('conversation', id))
      throw new GatewayError(`${kind}.not_found`, { field });
  }
}

function refuseFile(field: string): never {
  if (field.startsWith('path.'))
    throw new GatewayError('file.not_found', {
      field,
      message: 'The file is kept by the service: ask without naming a provider for it.',
    });
  throw new GatewayError('request.invalid_field', {
    field,
    message: `${field} is a file that this service keeps, which the provider does not have: upload it there (POST /v1/files with the provider named), and name it by the id that it gets.`,
  });
}

const notThere: ReadonlySet<number> = new Set([404]);
const directTarget = directConfig.targets[0] as ResolvedTarget;

function plan(root: PlanStep): RoutePlan {
  return { root, choices: [], sticky: [] };
}

function planned(target: ResolvedTarget): RoutePlan {
  return plan({ kind: 'target', target });
}

/** The config's target that made it, with all that the config says of it; else the saved provider by its name. */
function targetOfOwner(
  exchange: ModelExchange,
  config: CompiledConfig,
  owner: OwnerNote,
  resolve: Resolve,
): ResolvedTarget {
  for (const target of config.targets) {
    const resolved = resolvedOr(exchange, target, resolve);
    if (resolved !== undefined && accountOf(resolved) === owner.account) return target;
  }
  const slug = owner.provider.startsWith('@') ? owner.provider.slice(1) : undefined;
  if (slug !== undefined && exchange.bundle?.providers.has(slug) === true)
    return savedTarget(owner.provider);
  throw new GatewayError('object.owner_unknown', {
    message: `The ${owner.kind} is kept by ${owner.provider}, which this request has no way to: name that provider, or a config that has it.`,
  });
}

function resolvedOr(
  exchange: ModelExchange,
  target: ResolvedTarget,
  resolve: Resolve,
): Target | undefined {
  try {
    return resolve(exchange, target);
  } catch {
    // Not this one: whoever is asked in the end says what is wrong.
    return undefined;
  }
}

/** Tells credentials and hosts of one provider apart. A saved provider is itself, whichever key it has today. */
export function accountOf({ entry, saved, apiKey, customHost }: Target): string {
  const who = saved === undefined ? `key ${apiKey}` : `saved ${saved.slug}`;
  return hash('sha256', `${entry.id}\n${who}\n${customHost?.url ?? ''}`, 'base64url').slice(0, 22);
}

const savedTargets = new RecentMap<ResolvedTarget>(1000);

function savedTarget(provider: string): ResolvedTarget {
  let target = savedTargets.use(provider);
  if (target === undefined) {
    target = compileConfig({ provider }).targets[0] as ResolvedTarget;
    savedTargets.set(provider, target);
  }
  return target;
}

function unknown(ids: NamedObjects['ids']): GatewayError {
  const [first] = ids;
  return new GatewayError('object.owner_unknown', {
    field: first?.field,
    message: `Nobody knows which of the config's targets has this ${first?.kind ?? 'object'}: name its provider.`,
  });
}

function unavailable(): GatewayError {
  return new GatewayError('object.owners_unavailable', { headers: { 'retry-after': '1' } });
}
