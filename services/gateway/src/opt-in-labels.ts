import { SettingsError } from '@sluice/env';
import { FirstValues, type LabelValues } from '@sluice/telemetry';
import type { Exchange } from './exchange/exchange.ts';
import type { ReplySummary } from './exchange/visit.ts';
import type { PrometheusEnv } from './prometheus-settings.ts';

/** What labels may say of a request. */
export type LabelledRequest = Pick<Exchange, 'key' | 'config' | 'metadata'>;

/** A label that an operator asked for, whose values nobody can list. */
export interface OptInLabel {
  readonly name: string;
  /** Which of them are told apart, in every metric alike. */
  readonly values: LabelValues;
  /** Empty = there is none. */
  read(request: LabelledRequest, asked: AskedTarget | undefined): string;
}

/** Which target answered; undefined = none was asked. */
export type AskedTarget = Pick<ReplySummary, 'model' | 'providerSlug'>;

/** @throws Error that names the setting which asks for what there is not */
export function optInLabels(env: PrometheusEnv): readonly OptInLabel[] {
  const readers = new Map<string, Reader>();
  if (env.PROMETHEUS_INCLUDE_MODEL_LABEL) readers.set('model', (_, asked) => asked?.model ?? '');
  if (env.PROMETHEUS_INCLUDE_PROVIDER_SLUG_LABEL)
    readers.set('provider_slug', (_, asked) => asked?.providerSlug ?? '');
  if (env.PROMETHEUS_INCLUDE_CONFIG_NAME_LABEL) readers.set('config_name', configName);
  if (env.PROMETHEUS_INCLUDE_API_KEY_NAME_LABEL) readers.set('api_key_name', apiKeyName);
  for (const name of env.PROMETHEUS_EXTRA_LABELS ?? []) {
    const read = extraLabels.get(name);
    if (read === undefined)
      throw new SettingsError([
        `PROMETHEUS_EXTRA_LABELS knows ${[...extraLabels.keys()].join(' and ')}, not ${name}`,
      ]);
    readers.set(name, read);
  }
  if (env.PROMETHEUS_INCLUDE_METADATA_LABELS)
    for (const key of metadataKeys(env)) {
      const name = `metadata_${key.replace(/[^a-zA-Z0-9_]/g, '_')}`;
      if (readers.has(name))
        throw new SettingsError([`PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS names ${name} twice`]);
      readers.set(
        name,
        ({ metadata }) => (Object.hasOwn(metadata, key) ? metadata[key] : '') ?? '',
      );
    }
  return Array.from(readers, ([name, read]) => ({
    name,
    values: new FirstValues(valuesMax),
    read: (request, asked) => told(read(request, asked)),
  }));
}

type Reader = OptInLabel['read'];

const configName: Reader = ({ config }) =>
  config === undefined ? '' : (config.saved?.slug ?? 'N/A');
const apiKeyName: Reader = ({ key }) => key?.source.name ?? '';
const extraLabels = new Map([
  ['apiKeyName', apiKeyName],
  ['configName', configName],
]);

function metadataKeys(env: PrometheusEnv): readonly string[] {
  const keys = env.PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS ?? [];
  if (keys.length === 0 || keys.length > metadataKeysMax)
    throw new SettingsError([
      `PROMETHEUS_INCLUDE_METADATA_LABELS needs 1 to ${metadataKeysMax} keys in PROMETHEUS_LABELS_METADATA_ALLOWED_KEYS`,
    ]);
  return keys;
}

/** Callers choose it: it must not make lines long, nor break them. */
function told(value: string): string {
  return value
    .slice(0, valueLengthMax)
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ');
}

const metadataKeysMax = 10;
const valueLengthMax = 64;
const valuesMax = 100;
