/**
 * What services can be told, as data. A service lists its settings in its
 * `settings.ts` and reads them once, when it starts; every fault is reported
 * together, and secrets never appear in the report.
 */
export { airGapHostSettings, airGapSettings } from './air-gap-settings.ts';
export {
  ascending,
  bool,
  bytesSecret,
  bytesSecrets,
  certificates,
  checked,
  csv,
  type DescribedSetting,
  decimal,
  defineSettings,
  grpcAddress,
  integer,
  ofSettings,
  oneOf,
  optionalSecret,
  optionalText,
  type Section,
  type SectionValues,
  type Setting,
  type Settings,
  SettingsError,
  secret,
  secrets,
  secretUrl,
  text,
  url,
  uuids,
} from './define-settings.ts';
export { factsKeySetting } from './facts-key-setting.ts';
export { readableFolder, writableFolder } from './folders.ts';
export { type Misspelt, misspelt } from './misspelt.ts';
export { closingDeadlines, graceMs, metricsSettings, processSettings } from './process-settings.ts';
export { clientTlsSettings, serverTlsSettings } from './tls-settings.ts';
