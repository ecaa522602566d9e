import type { partnerChecks } from '@sluice/contracts/checks';
import { azurePartners } from '../../partners/azure.ts';
import { bedrockPartners } from '../../partners/bedrock.ts';
import { servicePartners } from '../../partners/service.ts';
import type { CompilersOf } from '../compile.ts';

export const partnerCompilers: CompilersOf<typeof partnerChecks> = {
  ...azurePartners,
  ...bedrockPartners,
  ...servicePartners,
};
