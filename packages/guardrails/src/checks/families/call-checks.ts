import type { callChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { allowedRequestTypes } from '../allowed-request-types.ts';
import { modelRules } from '../model-rules.ts';
import { modelWhitelist } from '../model-whitelist.ts';
import { requestParametersCheck } from '../request-parameters-check.ts';
import { requiredMetadataKeyPairs } from '../required-metadata-key-pairs.ts';
import { requiredMetadataKeys } from '../required-metadata-keys.ts';

export const callCompilers: CompilersOf<typeof callChecks> = {
  'default.modelWhitelist': modelWhitelist,
  'default.modelRules': modelRules,
  'default.allowedRequestTypes': allowedRequestTypes,
  'default.requiredMetadataKeys': requiredMetadataKeys,
  'default.requiredMetadataKeyPairs': requiredMetadataKeyPairs,
  'default.requestParametersCheck': requestParametersCheck,
};
