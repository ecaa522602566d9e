import { setImmediate as nextTurn } from 'node:timers/promises';
import type { config } from '@sluice/proto-stubs';

/** Configs by slug and by id: callers may use either. The documents are text until they are asked for. */
export type ConfigIndex = ReadonlyMap<string, config.Config>;

/** So many are indexed without a pause. */
const turnSize = 1_000;

export function indexConfigs(configs: readonly config.Config[]): ConfigIndex {
  const index = new Map<string, config.Config>();
  for (const each of configs) add(index, each);
  return index;
}

/** The same for bundles that come while requests are served: those get their turn in between. */
export async function indexConfigsInTurns(configs: readonly config.Config[]): Promise<ConfigIndex> {
  if (configs.length <= turnSize) return indexConfigs(configs);
  const index = new Map<string, config.Config>();
  for (let at = 0; at < configs.length; at += turnSize) {
    for (const each of configs.slice(at, at + turnSize)) add(index, each);
    await nextTurn();
  }
  return index;
}

function add(index: Map<string, config.Config>, each: config.Config): void {
  index.set(each.slug, each);
  index.set(each.id, each);
}
