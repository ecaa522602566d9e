import type { HostRules, OpenedKeys } from '@sluice/outbound';
import type { CloudSettings } from '../cloud-settings.ts';
import type { TokenCache } from './token-cache.ts';
import type { AskTokenEndpoint } from './token-endpoint.ts';

/** What the recipes work with. */
export interface AuthorisationTools {
  cloud: CloudSettings;
  /** Whatever has to be asked for is asked for through them. */
  tokens: Pick<TokenCache, 'get'>;
  keys: OpenedKeys;
  askTokenEndpoint: AskTokenEndpoint;
  hostRules: HostRules;
  nowMs: () => number;
}
