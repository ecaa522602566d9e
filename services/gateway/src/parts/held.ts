import { join } from 'node:path';
import type { Part } from '@sluice/service';
import type { Logger } from '@sluice/telemetry';
import type { ConfigSource } from '../held/config-source.ts';
import { ConfigStore, type ConfigStoreOptions } from '../held/config-store.ts';
import type { Organisations } from '../held/organisations.ts';
import { Snapshot } from '../held/snapshot/snapshot.ts';
import type { Env } from '../settings.ts';

export interface HeldParts {
  source: ConfigSource;
  /** Undefined where no JWTs are taken. */
  organisations: Organisations | undefined;
  /** Told of each sign of life of the control plane. */
  onHeartbeat: ConfigStoreOptions['onHeartbeat'];
  logger: Logger;
}

/** Keys, bundles and organisations: from disk at first, then as the control plane tells. */
export function heldPart(env: Env, { source, organisations, onHeartbeat, logger }: HeldParts) {
  const snapshot = new Snapshot({
    dir: join(env.DATA_DIR, 'held'),
    key: env.SNAPSHOT_KEY,
    keysAlso: env.SNAPSHOT_KEY_ALSO,
    releaseBefore: join(env.DATA_DIR, 'snapshot.bin'),
    logger,
  });
  const store = new ConfigStore({
    source,
    snapshot,
    organisations,
    onHeartbeat,
    peppers: [env.KEY_PEPPER, ...env.KEY_PEPPER_ALSO],
    address: env.CONTROL_PLANE_GRPC_URL,
    logger,
  });
  const part: Part = {
    name: 'held',
    start: () => store.start(),
    stop: () => store.stop(),
    gauges: () => [
      {
        name: 'sluice_config_connected',
        help: '1 while the control plane is watched',
        read: () => Number(store.connected),
      },
      {
        name: 'sluice_config_away_seconds',
        help: 'How long the control plane has been away',
        read: () => (store.connected ? 0 : (Date.now() - store.disconnectedSinceMs) / 1000),
      },
      { name: 'sluice_config_keys', help: 'Keys held', read: () => store.keyCount },
      {
        name: 'sluice_name_lookups',
        help: 'Unknown names asked of the control plane since start',
        read: () => store.newer.asked,
      },
      {
        name: 'sluice_config_bundles',
        help: 'Workspace bundles held',
        read: () => store.bundleCount,
      },
      {
        name: 'sluice_key_lookups',
        help: 'Keys asked of the control plane since start',
        read: () => store.lookups,
      },
    ],
  };
  return { store, part };
}
