import type { CompiledBundle } from '../compiled/compiled-bundle.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { LimitsOfRequest } from './limits.ts';

/** Who asks, and what holds for whatever they ask: known once the request is authenticated. */
export interface Identity {
  readonly key: ResolvedKey | undefined;
  readonly bundle: CompiledBundle | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** Undefined where nothing is counted, such as for lists of models. */
  readonly limits: LimitsOfRequest | undefined;
}
