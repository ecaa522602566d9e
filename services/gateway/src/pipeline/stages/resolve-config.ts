import { type ErrorCode, GatewayError } from '@sluice/errors';
import { addressSettings } from '@sluice/providers';
import type { CompiledBundle } from '../../compiled/compiled-bundle.ts';
import { type ConfigCompiler, refuseIgnored } from '../../compiled/config-compiler.ts';
import type { ArrivedRequest } from '../../exchange/arrived-request.ts';
import type { ConfigOrigin } from '../../exchange/config-choice.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { lookAgain } from '../../held/look-again.ts';
import type { NewerBundles } from '../../held/newer-bundles.ts';
import { prefix, validateCallerHeaders } from '../../http/caller-headers.ts';
import { isInlineConfig } from '../../http/inline-config.ts';
import type { Stage } from '../pipeline.ts';

/** Saved-only check, header validation, then the config: of the request, the key or the workspace. */
export function resolveConfig(options: {
  blockInlineConfig: boolean;
  /** Keys that nobody knows are refused, whoever sends them. */
  strictParams: boolean;
  configs: ConfigCompiler;
  newer: Pick<NewerBundles, 'after'>;
}): Stage {
  const find = (exchange: Exchange) => {
    exchange.config = findConfig(exchange, options.configs);
    if (options.strictParams || exchange.arrival.caller.strictParams)
      refuseIgnored(exchange.config?.compiled.ignored ?? []);
    refusePrompts(exchange);
  };
  return (exchange, next) => {
    // Its provider is named, and no default of the key or the workspace is meant.
    if (exchange.isLook) return next();
    exchange.isSavedOnly =
      options.blockInlineConfig || exchange.bundle?.source.blockInlineConfig === true;
    if (exchange.isSavedOnly) refuseInline(exchange.arrival);
    validateCallerHeaders(exchange.arrival.caller);
    try {
      find(exchange);
    } catch (error) {
      return lookAgain(exchange, options.newer, error, () => find(exchange)).then(next);
    }
    return next();
  };
}

/** First violation found; runs before any routing. */
function refuseInline({ caller, headers }: ArrivedRequest): void {
  if (caller.config !== undefined && isInlineConfig(caller.config))
    throw blocked('inline_config_blocked', 'x-service-config');
  if (caller.provider !== undefined && !caller.provider.startsWith('@'))
    throw blocked('inline_provider_blocked', 'x-service-provider');
  if (caller.customHost !== undefined)
    throw blocked('inline_custom_host_blocked', 'x-service-custom-host');
  for (const name of addressSettings)
    if (headers[prefix + name]) throw blocked('inline_provider_url_blocked', prefix + name);
  if (caller.forwardHeaders !== undefined)
    throw blocked('inline_forward_headers_blocked', 'x-service-forward-headers');
}

function blocked(code: ErrorCode, field: string): GatewayError {
  return new GatewayError(code, { field });
}

/** What is asked of no saved prompt has no variables to make a request from one. */
function refusePrompts({ config, subject }: Exchange): void {
  const [prompting] = config?.compiled.prompting ?? [];
  if (prompting === undefined || subject.kind !== 'model-call') return;
  if (subject.prompt !== undefined || subject.operation.spends === 'nothing') return;
  const { path, promptId = '' } = prompting;
  throw new GatewayError('config.prompt_misplaced', {
    field: `${path}.prompt_id`,
    message: `${path}.prompt_id is for saved prompts: call POST /v1/prompts/${promptId.slice(0, 80)}/completions.`,
  });
}

/** Request over key over workspace; the first that is there counts alone. */
function findConfig(exchange: Exchange, configs: ConfigCompiler): Exchange['config'] {
  const { bundle, key } = exchange;
  const sent = exchange.arrival.caller.config;
  if (bundle === undefined || key === undefined)
    throw new Error('resolveConfig runs after authenticate');
  const keyDefault = key.source.configSlug;
  if (sent === undefined)
    return (
      defaultConfig(bundle, keyDefault, 'key-default', configs) ??
      defaultConfig(bundle, bundle.source.defaultConfigSlug, 'workspace-default', configs)
    );
  if (key.source.allowConfigOverride === false && sent !== keyDefault)
    throw new GatewayError('config.override_forbidden', { field: 'x-service-config' });
  if (isInlineConfig(sent))
    return { compiled: configs.inline(bundle, sent), saved: undefined, source: 'inline' };
  const saved = bundle.configs.get(sent);
  if (saved === undefined)
    throw new GatewayError('config.not_found', {
      field: 'x-service-config',
      message: `No config "${sent.slice(0, 80)}" exists in this workspace.`,
    });
  return { compiled: configs.saved(bundle, saved), saved, source: 'header-slug' };
}

function defaultConfig(
  bundle: CompiledBundle,
  slug: string,
  source: ConfigOrigin,
  configs: ConfigCompiler,
): Exchange['config'] {
  const saved = slug === '' ? undefined : bundle.configs.get(slug);
  return saved === undefined
    ? undefined
    : { compiled: configs.saved(bundle, saved), saved, source };
}
