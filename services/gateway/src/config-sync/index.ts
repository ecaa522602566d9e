/**
 * What of a gateway follows the control plane, for those who measure it apart
 * from the rest (`npm run scale`).
 */
export { ConfigStore, type ConfigStoreOptions } from '../held/config-store.ts';
export { emptyTables, sectionNames } from '../held/sections/index.ts';
export { createConfigSource } from './create-config-source.ts';
