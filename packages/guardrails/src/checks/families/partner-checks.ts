import type { partnerChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { acuvityPartners } from '../../partners/acuvity.ts';
import { aporiaPartners } from '../../partners/aporia.ts';
import { azurePartners } from '../../partners/azure.ts';
import { bedrockPartners } from '../../partners/bedrock.ts';
import { furtherPartners } from '../../partners/further.ts';
import { lassoPartners } from '../../partners/lasso.ts';
import { mistralPartners } from '../../partners/mistral.ts';
import { pangeaPartners } from '../../partners/pangea.ts';
import { panwPrismaAirsPartners } from '../../partners/panw-prisma-airs.ts';
import { patronusPartners } from '../../partners/patronus.ts';
import { pillarPartners } from '../../partners/pillar.ts';
import { promptfooPartners } from '../../partners/promptfoo.ts';
import { qualifirePartners } from '../../partners/qualifire.ts';
import { servicePartners } from '../../partners/service.ts';
import { sydelabsPartners } from '../../partners/sydelabs.ts';

export const partnerCompilers: CompilersOf<typeof partnerChecks> = {
  ...acuvityPartners,
  ...aporiaPartners,
  ...azurePartners,
  ...bedrockPartners,
  ...furtherPartners,
  ...lassoPartners,
  ...mistralPartners,
  ...pangeaPartners,
  ...panwPrismaAirsPartners,
  ...patronusPartners,
  ...pillarPartners,
  ...promptfooPartners,
  ...qualifirePartners,
  ...servicePartners,
  ...sydelabsPartners,
};
