import type { imageChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { imageHosts } from '../image-hosts.ts';
import { inlineImageUrls } from '../inline-image-urls.ts';

export const imageCompilers: CompilersOf<typeof imageChecks> = {
  'default.imageHosts': imageHosts,
  'default.inlineImageUrls': inlineImageUrls,
};
