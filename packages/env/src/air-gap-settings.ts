import { bool, csv } from './define-settings.ts';

/** Of every service: whether there is anything outside at all. */
export const airGapSettings = {
  AIRGAP: bool(
    'nothing is connected to or looked up but what settings and admins name; see [air gap](deploy/airgap.md)',
    false,
  ),
};

/** Of services that call hosts which others name. */
export const airGapHostSettings = {
  ...airGapSettings,
  AIRGAP_HOSTS: csv(
    'with AIRGAP: hosts that may be called, whoever names them, beside the trusted ones; no others, once it is set',
  ),
};
