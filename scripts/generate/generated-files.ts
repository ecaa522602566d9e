import { buildables } from '../build.ts';
import { chartSettingsFile } from '../chart/chart-settings.ts';
import { valuesSchemaFile } from '../chart/values-schema.ts';
import { modelsPage } from '../docs/models-page.ts';
import { operationsPage } from '../docs/operations-page.ts';
import { providerPage } from '../docs/provider-table.ts';
import { settingsPage } from '../docs/settings-page.ts';
import { containerfile } from '../images/containerfile.ts';
import { alertsFile } from '../monitoring/alerts-file.ts';
import { dashboardFile } from '../monitoring/dashboard-file.ts';
import { dashboards } from '../monitoring/dashboards.ts';
import { usageColumnsSource, usageFieldsSource, usageRecordSource } from './usage-record.ts';

/** What `npm run generate` writes beside the stubs of the protos, by its path from the root. */
export const generatedFiles: Readonly<Record<string, () => string>> = {
  // A chart reads files of its own folder only: it has its copies.
  ...Object.fromEntries(
    ['deploy/grafana', 'deploy/chart/sluice/files/dashboards'].flatMap((folder) =>
      Object.keys(dashboards).map((name) => [`${folder}/${name}.json`, () => dashboardFile(name)]),
    ),
  ),
  'deploy/chart/sluice/files/alerts.yaml': alertsFile,
  'deploy/chart/sluice/files/settings.json': chartSettingsFile,
  'deploy/chart/sluice/values.schema.json': valuesSchemaFile,
  'deploy/prometheus/alerts.yaml': alertsFile,
  ...Object.fromEntries(
    buildables.map((name) => [`deploy/images/${name}.Containerfile`, () => containerfile(name)]),
  ),
  'docs/models.md': modelsPage,
  'docs/operations.md': operationsPage,
  'docs/providers.md': providerPage,
  'docs/settings.md': settingsPage,
  'packages/usage/src/record.gen.ts': usageRecordSource,
  'services/data-service/src/columns/usage-fields.gen.ts': usageFieldsSource,
  'services/data-service/src/sinks/usage-columns.gen.ts': usageColumnsSource,
};
