import { ascending, bool, csv, type SectionValues } from '@sluice/env';

/** What /metrics tells apart, and how finely. `settings.ts` reads it with all the others. */
export const prometheusSettings = {
  PROMETHEUS_INCLUDE_MODEL_LABEL: bool('label `model` in [metrics](operating.md#metrics)', false),
  PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL: bool(
    'label `config_name`: slug of the saved config, `N/A` of one in the request',
    false,
  ),
  PROMETHEUS_INCLUDE_PROVIDER_SLUG_LABEL: bool(
    'label `provider_slug`: of the saved provider that was asked; `provider` is its kind',
    false,
  ),
  PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL: bool('label `api_key_name`', false),
  PROMETHEUS_EXTRA_LABELS: csv('labels `apiKeyName` and `configName`: the same, spelled so'),
  PROMETHEUS_INCLUDE_METADATA_LABELS: bool(
    'labels `metadata_<key>`, of PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS',
    false,
  ),
  PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS: csv('keys of metadata that become labels, ten at most'),
  PROMETHEUS_HISTOGRAM_BUCKETS: ascending(
    'upper limits of histograms in ms',
    [
      0.1, 1, 2, 5, 10, 30, 50, 75, 100, 150, 200, 350, 500, 1000, 2500, 5000, 10_000, 50_000,
      100_000, 300_000, 500_000, 10_000_000,
    ],
  ),
  PROMETHEUS_HTTP_DURATION_BUCKETS: ascending(
    'upper limits of `http_request_duration_seconds`',
    [0.1, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 240, 500, 1000, 3000],
  ),
};

export type PrometheusEnv = SectionValues<typeof prometheusSettings>;
