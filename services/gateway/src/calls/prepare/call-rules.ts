import type { HostRules } from '@sluice/outbound';
import type { ModelOverrides } from '@sluice/providers';

/** What an operator lays down for all calls. */
export interface CallRules {
  hostRules: HostRules;
  /** Absent = what our table says of models holds. */
  modelOverrides?: ModelOverrides | undefined;
}
