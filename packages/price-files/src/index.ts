/**
 * The operator's price files: read from their folder, checked, and read again
 * when they change. Start at `read-price-files.ts`; `price-files-part.ts` is what
 * a service holds, `apply-price-files.ts` what makes a new version.
 */
export { applyPriceFiles } from './apply-price-files.ts';
export { priceFilesPart } from './price-files-part.ts';
export { effectiveAtOf, readPriceFiles } from './read-price-files.ts';
