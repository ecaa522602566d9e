import type { JsonObject, ProviderTool } from '@sluice/contracts';
import { objectOf, stringOf } from '../../json/json-access.ts';
import { formatName } from './wire.ts';

/**
 * `{type: X, X: {name, …}}` is how a chat caller names a tool of this provider:
 * the options' name is the versioned type.
 */
export function encodeProviderTool(tool: ProviderTool, dropped: string[]): JsonObject | undefined {
  if (tool.format === formatName) return tool.value;
  const kind = stringOf(tool.value.type);
  const options = kind === undefined ? undefined : objectOf(tool.value[kind]);
  const type = stringOf(options?.name);
  if (kind === undefined || kind === 'custom' || options === undefined || type === undefined) {
    dropped.push(tool.path);
    return undefined;
  }
  const cacheControl = objectOf(tool.value.cache_control);
  return { ...options, name: kind, type, ...(cacheControl && { cache_control: cacheControl }) };
}
