import { readableFolder } from '@sluice/env';
import { priceFilesPart } from '@sluice/price-files';
import { PriceBook } from '@sluice/pricing';
import { providerIds } from '@sluice/providers';
import type { Part } from '@sluice/service';
import type { loadPublicKeys } from '@sluice/signed-files';
import type { Logger } from '@sluice/telemetry';
import { PriceList } from '../money/price-list.ts';
import type { Env } from '../settings.ts';

/** What models cost: of the book that is built in, and of the operator's files. */
export function pricesPart(
  env: Env,
  keys: ReturnType<typeof loadPublicKeys>,
  logger: Logger,
): { prices: PriceList; priceFiles: Part } {
  const priceBook = new PriceBook();
  const prices = new PriceList(priceBook);
  const priceFiles = priceFilesPart({
    dir: env.PRICE_FILES_DIR && readableFolder('PRICE_FILES_DIR', env.PRICE_FILES_DIR),
    keys,
    providers: providerIds(),
    use(files) {
      priceBook.files = files;
      prices.forget();
    },
    logger,
  });
  return { prices, priceFiles };
}
