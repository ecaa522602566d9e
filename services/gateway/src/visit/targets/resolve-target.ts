import type { Author, ResolvedTarget } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { findProvider, type ProviderEntry } from '@sluice/providers';
import type { SavedProvider } from '../../compiled/compiled-bundle.ts';
import type { ModelExchange } from '../../exchange/exchange.ts';
import type { Target } from '../../exchange/target.ts';
import { callersHostField, settleAddress, settleSettings } from './credential-rule.ts';
import { spelledHere, whichThereAre } from './provider-hints.ts';
import { checkServedModels, refuseCallersAddress, servedModel } from './served-model.ts';

/**
 * Resolves one target of the plan: the config's provider, then provider
 * headers, then a `@slug/model` in the body, then what a prompt was saved with.
 * @throws GatewayError naming what is missing, unknown, or not available in this release
 */
export function resolveTarget(exchange: ModelExchange, planned: ResolvedTarget): Target {
  if (planned.unavailable !== undefined)
    throw new GatewayError('config.invalid', {
      field: planned.unavailable.path,
      message: `${planned.unavailable.path} ${planned.unavailable.what}.`,
    });
  const named = nameProvider(exchange, planned);
  const saved = named.reference.startsWith('@')
    ? findSaved(exchange, named.reference.slice(1))
    : undefined;
  const entry = saved === undefined ? rawEntry(named.reference, named.field) : savedEntry(saved);
  const model = named.model ?? upstreamModel(exchange, planned);
  const who = { ...named, entry, saved };
  const settings = settleSettings(exchange, planned, who);
  const facts = { ...settings, entry, saved, model };
  checkServedModels(exchange, facts);
  const served = servedModel(exchange, facts);
  const modelRow = saved?.models.get(served);
  const hostField = callersHostField(exchange, planned);
  if (hostField !== undefined) refuseCallersAddress(saved, hostField);
  const settled = settleAddress(exchange, planned, { ...who, modelRow }, settings);
  return {
    ...settled,
    planned,
    path: planned.path,
    entry,
    saved,
    model,
    servedModel: served,
    rewritesModel: exchange.subject.model !== '' && model !== exchange.subject.model,
    timeoutMs: exchange.arrival.caller.requestTimeoutMs ?? planned.requestTimeoutMs,
    // Off in either place means off; the header cannot switch it on again.
    strictOpenAiCompliance:
      exchange.arrival.caller.strictOpenAiCompliance !== false &&
      planned.strictOpenAiCompliance !== false,
  };
}

interface NamedProvider {
  /** Catalogue id or `@slug`. */
  reference: string;
  /** Set when the name also carried a model. */
  model: string | undefined;
  field: string;
  by: Author;
}

function nameProvider(exchange: ModelExchange, planned: ResolvedTarget): NamedProvider {
  if (planned.provider !== undefined)
    return splitReference(planned.provider, `${planned.path}.provider`, planned.by);
  const override = planned.overrideParams?.model;
  if (isReference(override))
    return splitReference(override, `${planned.path}.override_params`, planned.by);
  const { provider } = exchange.arrival.caller;
  // A target with a prompt of its own is asked where that was saved, as the config means it.
  if (provider !== undefined && planned.promptId === undefined)
    return splitReference(provider, 'x-service-provider', 'caller');
  const model =
    typeof override === 'string'
      ? override
      : exchange.subject.model || planned.defaultParams?.model;
  if (isReference(model)) return splitReference(model, 'body.model', 'caller');
  if (exchange.subject.prompt !== undefined)
    return {
      reference: exchange.subject.prompt.provider,
      model: undefined,
      field: 'prompt.virtual_key',
      by: 'admin',
    };
  const spelled = spelledHere(model, (slug) => exchange.bundle?.providers.has(slug) === true);
  throw new GatewayError('provider.missing', {
    field: spelled === undefined ? 'x-service-provider' : 'body.model',
    message:
      spelled === undefined
        ? 'Name a provider: send x-service-config or x-service-provider, or a model of the form @provider-slug/model.'
        : `A provider is named with an at sign: write the model as "${spelled}".`,
  });
}

/** `@slug/model`: a model that says who serves it. */
function isReference(model: unknown): model is string {
  return typeof model === 'string' && model.startsWith('@') && model.includes('/');
}

/** Split at the first `/`: model names may contain more. */
function splitReference(reference: string, field: string, by: Author): NamedProvider {
  const slash = reference.indexOf('/');
  if (!reference.startsWith('@') || slash < 0) return { reference, model: undefined, field, by };
  return { reference: reference.slice(0, slash), model: reference.slice(slash + 1), field, by };
}

/** The model to ask for: an override, else the body's, freed from a leading `@slug/`. */
function upstreamModel(exchange: ModelExchange, planned: ResolvedTarget): string {
  const override = planned.overrideParams?.model;
  const fallback = planned.defaultParams?.model;
  const model =
    typeof override === 'string'
      ? override
      : exchange.subject.model === '' && typeof fallback === 'string'
        ? fallback
        : exchange.subject.model;
  return splitReference(model, 'body.model', 'caller').model ?? model;
}

function findSaved(exchange: ModelExchange, slug: string): SavedProvider {
  const saved = exchange.bundle?.providers.get(slug);
  if (saved === undefined)
    throw new GatewayError('provider.not_found', {
      field: 'x-service-provider',
      message: `No provider "@${slug.slice(0, 80)}" exists in this workspace. ${whichThereAre(slug, exchange.bundle?.providers.keys() ?? [])}`,
    });
  // Whether it is used up its budget says, when it is asked: with 412, and behind the cache.
  const expired = saved.expiresAtMs !== 0 && saved.expiresAtMs <= exchange.arrival.startedAtMs;
  if (expired || saved.status === 'expired')
    throw new GatewayError('provider.unavailable', {
      field: 'x-service-provider',
      message: `The provider "@${slug}" is expired.`,
    });
  return saved;
}

function savedEntry(saved: SavedProvider): ProviderEntry {
  if (saved.entry === undefined)
    throw new GatewayError('provider.unknown', {
      message: `This release does not know the provider "${saved.providerId}" of "@${saved.slug}".`,
    });
  return saved.entry;
}

function rawEntry(name: string, field: string): ProviderEntry {
  const entry = findProvider(name.toLowerCase());
  if (entry === undefined)
    throw new GatewayError('provider.unknown', {
      field,
      message: `The provider "${name.slice(0, 80)}" is not known.`,
    });
  return entry;
}
