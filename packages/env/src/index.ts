/**
 * Typed process settings. A service calls `defineEnv` once, in its `settings.ts`;
 * every fault is reported together, and secrets never appear in the report.
 */
export {
  bool,
  bytesSecret,
  csv,
  defineEnv,
  type EnvSpec,
  type EnvValues,
  integer,
  oneOf,
  optionalSecret,
  optionalText,
  secret,
  text,
  url,
  uuids,
} from './define-settings.ts';
export { clientTlsSettings, serverTlsSettings } from './tls-settings.ts';
