import type { CheckDeclaration } from '../declaration.ts';
import { acuvityChecks } from '../partners/acuvity.ts';
import { aporiaChecks } from '../partners/aporia.ts';
import { azureChecks } from '../partners/azure.ts';
import { bedrockChecks } from '../partners/bedrock.ts';
import { furtherChecks } from '../partners/further.ts';
import { lassoChecks } from '../partners/lasso.ts';
import { mistralChecks } from '../partners/mistral.ts';
import { pangeaChecks } from '../partners/pangea.ts';
import { panwPrismaAirsChecks } from '../partners/panw-prisma-airs.ts';
import { patronusChecks } from '../partners/patronus.ts';
import { pillarChecks } from '../partners/pillar.ts';
import { promptfooChecks } from '../partners/promptfoo.ts';
import { qualifireChecks } from '../partners/qualifire.ts';
import { serviceChecks } from '../partners/service.ts';
import { sydelabsChecks } from '../partners/sydelabs.ts';

/** Checks that other services make. */
export const partnerChecks = {
  ...acuvityChecks,
  ...aporiaChecks,
  ...azureChecks,
  ...bedrockChecks,
  ...furtherChecks,
  ...lassoChecks,
  ...mistralChecks,
  ...pangeaChecks,
  ...panwPrismaAirsChecks,
  ...patronusChecks,
  ...pillarChecks,
  ...promptfooChecks,
  ...qualifireChecks,
  ...serviceChecks,
  ...sydelabsChecks,
} satisfies Record<string, CheckDeclaration>;
