import { type ConfigParseResult, parseConfigDocument } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type CompileOptions, compileConfig } from './compile-config.ts';

/**
 * Everything that can be said about a document before it is saved: its shape,
 * then what conditions, patterns, paths and references mean.
 */
export function checkConfig(document: unknown, options: CompileOptions = {}): ConfigParseResult {
  const parsed = parseConfigDocument(document, 'refuse', options.caps);
  if (!parsed.ok) return parsed;
  try {
    compileConfig(parsed.config, options);
    return parsed;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'config.invalid') throw error;
    return { ok: false, field: error.field ?? 'config', faults: error.faults ?? [error.message] };
  }
}
