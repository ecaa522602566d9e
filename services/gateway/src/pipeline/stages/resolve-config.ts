import { parseConfigDocument } from '@sluice/contracts';
import { type CompiledConfig, compileConfig } from '@sluice/engine';
import { type ErrorCode, GatewayError } from '@sluice/errors';
import type { JsonValue } from '@sluice/providers';
import { compiledConfig, type SavedConfig } from '../../config-sync/compiled-bundle.ts';
import { validateCallerHeaders } from '../../http/caller-headers.ts';
import { deeperThan } from '../../http/json-body.ts';
import type { Exchange, Stage } from '../exchange.ts';

/** Saved-only check, header validation, then the config: by slug, inline, or the key's default. */
export function resolveConfig(options: { blockInlineConfig: boolean }): Stage {
  return (exchange, next) => {
    if (options.blockInlineConfig || exchange.bundle?.source.blockInlineConfig === true)
      refuseInline(exchange);
    validateCallerHeaders(exchange.caller);
    exchange.config = findConfig(exchange);
    return next();
  };
}

/** First violation found; runs before any routing. */
function refuseInline(exchange: Exchange): void {
  const { caller } = exchange;
  if (caller.config?.trimStart().startsWith('{'))
    throw blocked('inline_config_blocked', 'x-service-config');
  if (caller.provider !== undefined && !caller.provider.startsWith('@'))
    throw blocked('inline_provider_blocked', 'x-service-provider');
  if (caller.customHost !== undefined)
    throw blocked('inline_custom_host_blocked', 'x-service-custom-host');
  if (caller.forwardHeaders !== undefined)
    throw blocked('inline_forward_headers_blocked', 'x-service-forward-headers');
}

function blocked(code: ErrorCode, field: string): GatewayError {
  return new GatewayError(code, { field });
}

function findConfig(
  exchange: Exchange,
): { compiled: CompiledConfig; saved: SavedConfig | undefined } | undefined {
  const sent = exchange.caller.config;
  const fallback = exchange.key?.source.configSlug ?? '';
  if (sent === undefined) {
    const saved = fallback === '' ? undefined : exchange.bundle?.configs.get(fallback);
    return saved === undefined ? undefined : { compiled: compiledConfig(saved), saved };
  }
  if (exchange.key?.source.allowConfigOverride === false && sent !== fallback)
    throw new GatewayError('config.override_forbidden', { field: 'x-service-config' });
  if (sent.trimStart().startsWith('{')) return { compiled: inlineConfig(sent), saved: undefined };
  const saved = exchange.bundle?.configs.get(sent);
  if (saved === undefined)
    throw new GatewayError('config.not_found', {
      field: 'x-service-config',
      message: `No config "${sent.slice(0, 80)}" exists in this workspace.`,
    });
  return { compiled: compiledConfig(saved), saved };
}

/** Inline documents repeat from request to request; the last few hundred stay compiled. */
const inlineConfigs = new Map<string, CompiledConfig>();
const inlineConfigsMax = 500;
/** Validation is recursive; deeper documents would take its stack. */
const depthMax = 200;

function inlineConfig(text: string): CompiledConfig {
  const held = inlineConfigs.get(text);
  if (held !== undefined) return held;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new GatewayError('config.invalid', {
      field: 'x-service-config',
      message: 'x-service-config is not valid JSON.',
      cause: error,
    });
  }
  if (deeperThan(document as JsonValue, depthMax))
    throw new GatewayError('config.invalid', {
      field: 'x-service-config',
      message: `The config is nested deeper than ${depthMax} levels.`,
    });
  const parsed = parseConfigDocument(document, 'ignore');
  if (!parsed.ok)
    throw new GatewayError('config.invalid', {
      field: parsed.field,
      faults: parsed.faults,
      message: `The config is not valid: ${parsed.faults[0] ?? ''}`,
    });
  const compiled = compileConfig(parsed.config);
  if (inlineConfigs.size >= inlineConfigsMax)
    for (const oldest of inlineConfigs.keys()) {
      inlineConfigs.delete(oldest);
      break;
    }
  inlineConfigs.set(text, compiled);
  return compiled;
}
