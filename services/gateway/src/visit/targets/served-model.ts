import { GatewayError } from '@sluice/errors';
import {
  type CallFacts,
  type JsonObject,
  type ModelPath,
  type ProviderEntry,
  type ReadSetting,
  readModelPath,
  readSettings,
} from '@sluice/providers';
import type { SavedProvider } from '../../compiled/compiled-bundle.ts';
import { modelKey } from '../../compiled/model-key.ts';
import type { ModelExchange } from '../../exchange/exchange.ts';
import type { ModelCall } from '../../exchange/subject.ts';
import { carriesBody } from '../../http/body-stream.ts';
import { repeatedMember } from '../../http/repeated-members.ts';
import { choosesModel, memberAt, modelsInBody, type NamedModel } from './named-models.ts';

/** What of a target decides which model serves the request. */
export interface ModelFacts {
  entry: ProviderEntry;
  saved: SavedProvider | undefined;
  setting: ReadSetting;
  /** The model to ask for, as config and body have it; empty when they name none. */
  model: string;
  forwardHeaders: readonly string[] | undefined;
}

/**
 * The model that serves a request, as records, prices and limits name it: what
 * the path of a pass-through call names, what a deployment stands for that
 * admins did not choose, else the model that is asked for. Empty when nothing
 * tells it.
 */
export function servedModel(exchange: ModelExchange, facts: ModelFacts): string {
  const path = exchange.subject.operation.body === 'raw' ? pathOf(exchange) : undefined;
  const [first] = path?.names ?? [];
  if (first !== undefined) return rowOf(facts, path?.names ?? []) ?? first;
  const [deployment] = chosenDeployments(facts);
  if (deployment === undefined)
    return facts.model === '' ? (exchange.subject.modelOfNamed ?? '') : facts.model;
  return rowOf(facts, [deployment]) ?? deployment;
}

/**
 * Checks every name that the request as it came gives to a model, beyond
 * `model` itself, against what a limited provider allows; and that they can be
 * read at all. `checkSentModels` does the same for the body that is sent.
 * @throws GatewayError `provider.model_not_allowed`, `provider.model_unreadable`, `request.ambiguous_member`
 */
export function checkServedModels(exchange: ModelExchange, facts: ModelFacts): void {
  const { saved } = facts;
  if (saved?.limitsModels !== true || namesNoModel(exchange)) return;
  if (facts.model !== '') requireAllowed(facts, { name: facts.model, field: 'body.model' });
  for (const name of chosenDeployments(facts))
    requireAllowed(facts, { name, field: 'x-service-provider' });
  for (const named of modelsInQuery(exchange)) requireAllowed(facts, named);
  for (const named of modelsInHeaders(exchange, facts)) requireAllowed(facts, named);
  if (exchange.subject.operation.body === 'raw') checkPassThrough(exchange, facts);
  else if (
    facts.model === '' &&
    exchange.subject.namesModelLater !== true &&
    // Judged when it was made.
    exchange.subject.named?.own?.kind !== 'call' &&
    servedBy(facts, facts.setting).length === 0
  )
    throw unreadable(saved, 'body.model', 'the request names none');
}

/**
 * The same for the body of a unified endpoint once config and checks have
 * changed it: `model` stands in it as it is sent.
 * @throws GatewayError as `checkServedModels`
 */
export function checkSentModels(
  exchange: ModelExchange,
  facts: ModelFacts,
  body: JsonObject,
): void {
  const { saved } = facts;
  if (saved?.limitsModels !== true || exchange.subject.operation.body === 'raw') return;
  if (namesNoModel(exchange)) return;
  checkBody(exchange, facts, body);
}

/**
 * The same for one event of a session. @returns how many names it gives
 * @throws GatewayError as `checkServedModels`
 */
export function checkEventModels(facts: ModelFacts, bytes: Buffer, event: JsonObject): number {
  const named = modelsInBody(event, 'event');
  for (const each of named) requireAllowed(facts, each);
  refuseRepeated(bytes, 'event');
  return named.length;
}

function namesNoModel({ subject }: ModelExchange): boolean {
  return subject.operation.names.model === 'nowhere';
}

/**
 * An address that the caller names may have the model in its path, and at a
 * host of the caller's any model may answer.
 * @throws GatewayError `provider.model_unreadable` for a limited provider
 */
export function refuseCallersAddress(saved: SavedProvider | undefined, field: string): void {
  if (saved?.limitsModels === true)
    throw unreadable(saved, field, 'an address of your own may serve any model');
}

function checkPassThrough(exchange: ModelExchange, facts: ModelFacts): void {
  const saved = facts.saved as SavedProvider;
  const path = pathOf(exchange);
  if (path !== undefined && path.names.length > 0) requireOneAllowed(facts, path.names, 'path');
  // What only reads or removes is served by no model.
  if (bodyless.has(exchange.arrival.method)) return;
  if (path === undefined)
    throw unreadable(saved, 'path', 'no model is known to be named at this path');
  if (path.from === 'files') return;
  if (path.from === 'query') {
    if (modelsInQuery(exchange).length === 0)
      throw unreadable(saved, 'query.model', 'the query names none');
    if (sendsSound(exchange)) return;
  }
  if (exchange.subject.json === undefined || exchange.subject.body === undefined) {
    if (path.from === 'nobody' && !carriesBody(exchange.arrival.headers)) return;
    throw unreadable(
      saved,
      'body',
      'send JSON as application/json with a content-length of 4 MiB at most, neither compressed nor with repeated members',
    );
  }
  const json =
    facts.model === '' || exchange.subject.model === '' || facts.model === exchange.subject.model
      ? exchange.subject.json
      : { ...exchange.subject.json, model: facts.model };
  checkBody(exchange, facts, json);
  if (path.from !== 'body' || memberAt(json, path.members) !== undefined) return;
  const { modelOfNamed } = exchange.subject;
  if (modelOfNamed !== undefined)
    requireAllowed(facts, { name: modelOfNamed, field: 'body.assistant_id' });
  else throw unreadable(saved, `body.${path.members[0]}`, 'the body does not name one there');
}

function checkBody(exchange: ModelExchange, facts: ModelFacts, json: JsonObject): void {
  for (const named of modelsInBody(json)) requireAllowed(facts, named);
  // A form's fields are looked at one by one; only JSON hides a value behind another.
  if (exchange.subject.body === undefined || exchange.subject.form !== undefined) return;
  refuseRepeated(exchange.subject.body, 'body');
}

function refuseRepeated(bytes: Buffer, field: 'body' | 'event'): void {
  const repeated = repeatedMember(bytes);
  if (repeated !== undefined)
    throw new GatewayError('request.ambiguous_member', {
      field,
      message: `The ${field} has the member "${repeated.slice(0, 80)}" twice in one object, and the provider is limited to certain models.`,
    });
}

/** Nothing that a vendor reads for its words. */
function sendsSound({ arrival: { headers } }: ModelExchange): boolean {
  return /^(?:audio|video)\//i.test(headers['content-type'] ?? '');
}

const bodyless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/** The same path for all targets of a request: read once. */
const paths = new WeakMap<ModelCall, { path: ModelPath | undefined }>();

function pathOf({ subject }: ModelExchange): ModelPath | undefined {
  let known = paths.get(subject);
  if (known === undefined) {
    known = { path: readModelPath(proxyPathOf(subject.pathname)) };
    paths.set(subject, known);
  }
  return known.path;
}

/** Everything after `/v1` (and `/proxy`) is the provider's. */
export function proxyPathOf(pathname: string): string {
  return pathname.replace(/^\/v1(?:\/proxy)?(?=\/|$)/, '');
}

function modelsInQuery({ subject: { search } }: ModelExchange): NamedModel[] {
  if (search === '') return [];
  const named: NamedModel[] = [];
  for (const [name, value] of new URLSearchParams(search))
    if (choosesModel(name)) named.push({ name: value, field: `query.${name}` });
  return named;
}

/** Headers that vendors read a model from, as far as they travel on. */
function modelsInHeaders({ arrival, subject }: ModelExchange, facts: ModelFacts): NamedModel[] {
  const { headers } = arrival;
  const names =
    subject.operation.body === 'raw'
      ? Object.keys(headers)
      : (facts.forwardHeaders ?? []).map((name) => name.toLowerCase());
  const named: NamedModel[] = [];
  for (const name of names) {
    const value = headers[name];
    if (value === undefined || name.startsWith('x-service-')) continue;
    if (choosesModel(name) || sagemakerHeaders.has(name))
      named.push({ name: String(value), field: name });
  }
  return named;
}

/** By which SageMaker chooses among the models of one endpoint, in other words. */
const sagemakerHeaders: ReadonlySet<string> = new Set([
  'x-amzn-sagemaker-target-variant',
  'x-amzn-sagemaker-target-container-hostname',
  'x-amzn-sagemaker-inference-component',
]);

function servedBy({ entry, model }: ModelFacts, setting: ReadSetting): readonly string[] {
  return entry.servedBy?.({ model, stream: false, setting } satisfies CallFacts) ?? [];
}

/** Deployments and the like that are asked for in place of the model, and that the provider's admins did not choose. */
function chosenDeployments(facts: ModelFacts): readonly string[] {
  if (facts.entry.servedBy === undefined || facts.saved === undefined) return [];
  const sent = servedBy(facts, facts.setting);
  if (sent.length === 0) return sent;
  const theirs = servedBy(facts, adminsSetting(facts.entry, facts.saved));
  return sent.filter((name) => !theirs.includes(name));
}

function adminsSetting(entry: ProviderEntry, saved: SavedProvider): ReadSetting {
  return readSettings(entry, saved.configurations, {});
}

/** The enabled model that is meant by one of these names: its own, or that of what admins let serve it. */
function rowOf(facts: ModelFacts, names: readonly string[]): string | undefined {
  const { saved, entry } = facts;
  if (saved === undefined) return undefined;
  const own = names.find((name) => saved.models.has(name));
  if (own !== undefined || entry.servedBy === undefined) return own;
  const setting = adminsSetting(entry, saved);
  for (const [model, { enabled }] of saved.models)
    if (enabled && servedBy({ ...facts, model }, setting).some((name) => names.includes(name)))
      return model;
  return undefined;
}

function requireAllowed(facts: ModelFacts, { name, field }: NamedModel): void {
  requireOneAllowed(facts, [name], field);
}

/** These names mean one model: it may be enabled under any of them. */
function requireOneAllowed(facts: ModelFacts, names: readonly string[], field: string): void {
  const saved = facts.saved as SavedProvider;
  const row = rowOf(facts, names);
  const isAllowed =
    row === undefined
      ? saved.allowAllModels && !names.some((name) => isOff(saved, name))
      : saved.models.get(row)?.enabled === true;
  if (!isAllowed)
    throw new GatewayError('provider.model_not_allowed', {
      field,
      message: `The model "${(names[0] ?? '').slice(0, 120)}" is not enabled for the provider "@${saved.slug}".`,
    });
}

function isOff({ modelsOff, entry }: SavedProvider, name: string): boolean {
  if (modelsOff.size === 0) return false;
  const prefix = entry?.quirks?.modelPrefix ?? '';
  const plain = prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name;
  return modelsOff.has(modelKey(name)) || modelsOff.has(modelKey(plain));
}

function unreadable(saved: SavedProvider, field: string, why: string): GatewayError {
  return new GatewayError('provider.model_unreadable', {
    field,
    message: `The provider "@${saved.slug}" is limited to certain models, and which one is asked for cannot be read: ${why}.`,
  });
}
