import type { Author, ResolvedTarget } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { findProvider, type ProviderEntry } from '@sluice/providers';
import type { SavedProvider } from '../../compiled/compiled-bundle.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import {
  callersHostField,
  type Settled,
  settleAddress,
  settleSettings,
} from './credential-rule.ts';
import { checkServedModels, refuseCallersAddress, servedModel } from './served-model.ts';

/** Where one attempt goes: provider, credential and address, as the one rule for credentials settled them. */
export interface Target extends Settled {
  /** What the config says of it: rules of retries, cache, parameters. */
  planned: ResolvedTarget;
  /** JSON path in the config, `config` when there is none. */
  path: string;
  entry: ProviderEntry;
  saved: SavedProvider | undefined;
  /** The model to ask for, without `@slug/`; empty when the request names none. */
  model: string;
  /** The model that serves it, as records, prices and limits name it (`served-model.ts`). */
  servedModel: string;
  /** True when the body's `model` differs from `model` and must be rewritten. */
  rewritesModel: boolean;
  timeoutMs: number | undefined;
  strictOpenAiCompliance: boolean;
}

/**
 * Resolves one target of the plan: the config's provider, then provider
 * headers, then a `@slug/model` in the body, then what a prompt was saved with.
 * @throws GatewayError naming what is missing, unknown, or not available in this release
 */
export function resolveTarget(exchange: Exchange, planned: ResolvedTarget): Target {
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
    rewritesModel: exchange.model !== '' && model !== exchange.model,
    timeoutMs: exchange.caller.requestTimeoutMs ?? planned.requestTimeoutMs,
    // Off in either place means off; the header cannot switch it on again.
    strictOpenAiCompliance:
      exchange.caller.strictOpenAiCompliance !== false && planned.strictOpenAiCompliance !== false,
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

function nameProvider(exchange: Exchange, planned: ResolvedTarget): NamedProvider {
  if (planned.provider !== undefined)
    return splitReference(planned.provider, `${planned.path}.provider`, planned.by);
  const override = planned.overrideParams?.model;
  if (isReference(override))
    return splitReference(override, `${planned.path}.override_params`, planned.by);
  if (exchange.caller.provider !== undefined)
    return splitReference(exchange.caller.provider, 'x-service-provider', 'caller');
  const model =
    typeof override === 'string' ? override : exchange.model || planned.defaultParams?.model;
  if (isReference(model)) return splitReference(model, 'body.model', 'caller');
  if (exchange.prompt !== undefined)
    return {
      reference: exchange.prompt.provider,
      model: undefined,
      field: 'prompt.virtual_key',
      by: 'admin',
    };
  throw new GatewayError('provider.missing', {
    field: 'x-service-provider',
    message:
      'Name a provider: send x-service-config or x-service-provider, or a model of the form @provider-slug/model.',
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
function upstreamModel(exchange: Exchange, planned: ResolvedTarget): string {
  const override = planned.overrideParams?.model;
  const fallback = planned.defaultParams?.model;
  const model =
    typeof override === 'string'
      ? override
      : exchange.model === '' && typeof fallback === 'string'
        ? fallback
        : exchange.model;
  return splitReference(model, 'body.model', 'caller').model ?? model;
}

function findSaved(exchange: Exchange, slug: string): SavedProvider {
  const saved = exchange.bundle?.providers.get(slug);
  if (saved === undefined)
    throw new GatewayError('provider.not_found', {
      field: 'x-service-provider',
      message: `No provider "@${slug.slice(0, 80)}" exists in this workspace.`,
    });
  const expired = saved.expiresAtMs !== 0 && saved.expiresAtMs <= exchange.startedAtMs;
  if (expired || saved.status === 'expired' || saved.status === 'exhausted')
    throw new GatewayError('provider.unavailable', {
      field: 'x-service-provider',
      message: `The provider "@${slug}" is ${expired ? 'expired' : saved.status}.`,
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
