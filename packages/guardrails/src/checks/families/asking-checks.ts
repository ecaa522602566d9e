import type { askingChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { jwt } from '../jwt.ts';
import { log } from '../log.ts';
import { validUrls } from '../valid-urls.ts';
import { webhook } from '../webhook.ts';

export const askingCompilers: CompilersOf<typeof askingChecks> = {
  'default.webhook': webhook,
  'default.log': log,
  'default.validUrls': validUrls,
  'default.jwt': jwt,
};
