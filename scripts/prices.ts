/**
 * `npm run prices -- diff | apply | reprice`: what price files change, a new
 * version of them, and past attempts at the prices that hold now (docs/prices.md).
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { applyPriceFiles, effectiveAtOf, readPriceFiles } from '@sluice/price-files';
import { PriceBook } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import { providerIds } from '@sluice/providers';
import { createRpcClient } from '@sluice/rpc';
import { listDifferences } from './prices/list-differences.ts';
import { reprice } from './prices/reprice.ts';
import { dataService } from './start/data-service.ts';

const help = `Usage: npm run prices -- diff    [--dir DIR] [--from DIR]
       npm run prices -- apply   [--dir DIR] --from DIR --at DAY
       npm run prices -- reprice [--dir DIR] --since DAY --until DAY [--organisation ID] [--dry-run]

  --dir DIR           the price files that services read (default PRICE_FILES_DIR)
  --from DIR          new files, <provider>.json
  --at DAY            from when they are in force, e.g. 2026-12-01 or 2026-12-01T12-00Z
  --since, --until    the attempts to price anew: from the one, and before the other
  --data DIR          the installation of npm start (default .sluice), where DATA_SERVICE_GRPC_URL is not set
`;

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      dir: { type: 'string' },
      from: { type: 'string' },
      at: { type: 'string' },
      since: { type: 'string' },
      until: { type: 'string' },
      organisation: { type: 'string' },
      'dry-run': { type: 'boolean' },
      data: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [command] = positionals;
  const named = values.dir ?? process.env.PRICE_FILES_DIR;
  const dir = named === undefined || named === '' ? undefined : pathOf(named);
  if (values.help !== true && command === 'diff')
    return diff(dir, values.from === undefined ? undefined : pathOf(values.from));
  if (values.help !== true && command === 'apply') {
    const at = required(values.at, '--at');
    const from = pathOf(required(values.from, '--from'));
    const names = await applyPriceFiles({ dir: required(dir, '--dir'), from, at });
    print(`In force from ${at}: ${names.join(', ')}`);
    return 0;
  }
  if (values.help !== true && command === 'reprice') {
    const book = new PriceBook(dir === undefined ? undefined : (await readPriceFiles(dir)).prices);
    const client = createRpcClient(usage.UsageService, dataService(values.data));
    try {
      const result = await reprice(client, book, {
        fromMs: instantOf(required(values.since, '--since')),
        toMs: instantOf(required(values.until, '--until')),
        organisationId: values.organisation ?? '',
        isDryRun: values['dry-run'] === true,
      });
      print(
        `${result.seen} attempts: ${result.changed} adjusted by ${dollars(result.addedNanoUsd)} together, ` +
          `${result.custom} priced by administrators, ${result.others} with other models' use, ${result.unpriced} without a known price`,
      );
    } finally {
      client.close();
    }
    return 0;
  }
  process.stdout.write(help);
  return values.help === true ? 0 : 2;
}

async function diff(dir: string | undefined, from: string | undefined): Promise<number> {
  const folder = from ?? required(dir, '--dir');
  const next = await readPriceFiles(folder, { providers: providerIds() });
  // New files are compared with those in force, those in force with the catalogue.
  const inForce = from === undefined || dir === undefined ? undefined : await readPriceFiles(dir);
  const differences = listDifferences(folder, inForce?.prices, next.prices, Date.now());
  for (const { provider, model, price, before, after } of differences)
    print(`${provider} ${model} ${price}: ${before ?? 'unknown'} -> ${after ?? 'unknown'}`);
  for (const warning of next.warnings) print(`warning: ${warning}`);
  print(`${differences.length} prices differ, in dollars a million tokens or each`);
  return 0;
}

function instantOf(text: string): number {
  const at = effectiveAtOf(text);
  if (at === undefined)
    throw new Error(`${text} is no day or instant, as 2026-12-01 or 2026-12-01T12-00Z`);
  return at;
}

function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw new Error(`${name} is missing.\n\n${help}`);
  return value;
}

/** npm changes the folder before it runs a script. */
function pathOf(path: string): string {
  return resolve(process.env.SLUICE_CALLER_DIR ?? process.cwd(), path);
}

function dollars(nanoUsd: bigint): string {
  return `$${(Number(nanoUsd) / 1e9).toFixed(9)}`;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
