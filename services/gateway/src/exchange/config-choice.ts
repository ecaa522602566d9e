import type { CompiledConfig } from '@sluice/engine';
import type { SavedConfig } from '../compiled/compiled-bundle.ts';

export interface ConfigChoice {
  compiled: CompiledConfig;
  saved: SavedConfig | undefined;
  source: ConfigOrigin;
}

/** Who named the config: the request, by slug or with the document itself, its key, or its workspace. */
export type ConfigOrigin = 'header-slug' | 'inline' | 'key-default' | 'workspace-default';
