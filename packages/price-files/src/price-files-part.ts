import type { KeyObject } from 'node:crypto';
import { SettingsError } from '@sluice/env';
import type { FilePrices } from '@sluice/pricing';
import { type ReadFiles, readPriceFiles } from './read-price-files.ts';

export interface PriceFilesOptions {
  /** The folder; undefined = there are no files. */
  dir: string | undefined;
  /** Of whoever may sign them; undefined = they need no signature. */
  keys?: readonly KeyObject[] | undefined;
  /** The ids of all there are. */
  providers: readonly string[];
  /** Takes effect at once: called before the start is done, and after each change. */
  use(prices: FilePrices): void;
  logger: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  /** How often the folder is looked at. */
  intervalMs?: number;
}

const defaultIntervalMs = 15_000;
/** In one line of the log; all of them are shown by `npm run prices -- diff`. */
const warningsLogged = 20;

/**
 * Holds the operator's prices for a service: nothing starts with files that are
 * not right, and later ones that are not leave those in force that were.
 */
export function priceFilesPart({
  dir,
  keys,
  providers,
  use,
  logger,
  intervalMs = defaultIntervalMs,
}: PriceFilesOptions) {
  let timer: NodeJS.Timeout | undefined;
  let held: ReadFiles | undefined;
  let isFailing = false;
  let isStopped = false;

  const take = (read: ReadFiles): void => {
    held = read;
    use(read.prices);
    logger.info({ models: read.models }, 'price files are in force');
    if (read.warnings.length > 0)
      logger.warn(
        { count: read.warnings.length, first: read.warnings.slice(0, warningsLogged) },
        'price files have what somebody should look at',
      );
  };
  const look = async (): Promise<void> => {
    try {
      const read = await readPriceFiles(dir as string, { keys, providers });
      if (isStopped) return;
      isFailing = false;
      if (read.fingerprint !== held?.fingerprint) take(read);
    } catch (error) {
      if (!isFailing)
        logger.error(
          { reason: (error as Error).message },
          'price files cannot be read: those read before stay in force',
        );
      isFailing = true;
    }
  };
  const next = (): void => {
    timer = setTimeout(async () => {
      await look();
      if (!isStopped) next();
    }, intervalMs).unref();
  };

  return {
    name: 'price-files',
    async start(): Promise<void> {
      if (dir === undefined) return;
      try {
        take(await readPriceFiles(dir, { keys, providers }));
      } catch (error) {
        throw new SettingsError([`PRICE_FILES_DIR ${dir}: ${(error as Error).message}`]);
      }
      next();
    },
    stop(): void {
      isStopped = true;
      clearTimeout(timer);
    },
    gauges: () => [
      {
        name: 'sluice_price_files_failing',
        help: '1 while the price files cannot be read',
        read: () => Number(isFailing),
      },
    ],
  };
}
