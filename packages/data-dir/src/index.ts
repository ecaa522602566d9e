/** Makes sure that a data folder has one process. Called before anything in the folder is looked at. */
export { type DataDirLock, lockDataDir } from './lock-data-dir.ts';
