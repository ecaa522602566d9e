import type { HostRules } from '@sluice/outbound';
import type { ModelOverrides, SignatureKeeper } from '@sluice/providers';

/** What an operator lays down for all calls. */
export interface CallRules {
  hostRules: HostRules;
  /** Whether what a vendor hands out for a stored credential may reach callers. */
  passesVendorSecrets?: boolean;
  /** Absent = what our table says of models holds. */
  modelOverrides?: ModelOverrides | undefined;
  /** Absent = callers have to give back what proves calls. */
  keptSignatures?: SignatureKeeper;
}
