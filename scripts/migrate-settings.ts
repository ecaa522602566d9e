import { replicationSettings } from '@sluice/data-service/migrate';
import { defineSettings, optionalSecret } from '@sluice/env';

/** What `npm run migrate` is told, as the services read it: a value may be a file. */
export const migrateSettings = defineSettings({
  Stores: {
    DATABASE_URL: optionalSecret('Postgres'),
    CLICKHOUSE_URL: optionalSecret('ClickHouse'),
    ...replicationSettings,
    NATS_URL: optionalSecret('NATS'),
  },
});
