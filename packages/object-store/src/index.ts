/**
 * Where objects are kept: a folder, or a bucket of S3 or what speaks like it, as
 * `LOG_STORE…` says. Start at `object-store.ts`; `open-log-store.ts` reads the
 * settings, `log-path.ts` names what logs are kept under.
 */
export { type BreakerRules, BreakingStore, type StoreListener } from './breaking-store.ts';
export { FolderStore } from './folder-store.ts';
export { type LogFormat, logFolder, logOfKey, logPath } from './log-path.ts';
export { logStoreSettings } from './log-store-settings.ts';
export { type ListOptions, type ObjectPage, type ObjectStore, StoreError } from './object-store.ts';
export {
  expectLogStoreWithin,
  type LogStoreEnv,
  logOfStore,
  logStoreEnvOf,
  openLogStore,
} from './open-log-store.ts';
export { eachPastRefusals } from './past-refusals.ts';
