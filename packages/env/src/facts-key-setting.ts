import { optionalText } from './define-settings.ts';

/** Of every service that reads the operator's facts. */
export const factsKeySetting = optionalText(
  'PEM file of the public keys that may sign price files and facts of models; with it [nothing else is taken](deploy/airgap.md#newer-prices-and-facts)',
);
