/**
 * `npm run facts -- --key FILE --out DIR [--prices DIR] [--models FILE]`: checks price files and facts
 * of models, and signs them, for installations that take no others (FACTS_PUBLIC_KEY_FILE).
 */
import { cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readPriceFiles } from '@sluice/price-files';
import { providerIds, readModelOverrides } from '@sluice/providers';
import { signFolder } from '@sluice/signed-files';
import { readPrivateKey } from './bundle/keys.ts';

const usage = `Usage: npm run facts -- --key FILE --out DIR [--prices DIR] [--models FILE]

  --key FILE      the private key, as npm run bundle -- --new-key makes one
  --prices DIR    price files, as PRICE_FILES_DIR has them: to DIR/prices
  --models FILE   facts of models, as MODEL_FACTS_FILE has them: to DIR/models/models.json
`;

process.exitCode = await main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  return 2;
});

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { key: text, out: text, prices: text, models: text } });
  const { key: keyFile, out, prices, models } = values;
  if (keyFile === undefined || out === undefined || (prices ?? models) === undefined) {
    process.stderr.write(usage);
    return 2;
  }
  const path = (value: string) => resolve(process.env.INIT_CWD ?? process.cwd(), value);
  const key = readPrivateKey(path(keyFile));
  const target = (name: string) => {
    const dir = join(path(out), name);
    if (existsSync(dir)) throw new Error(`${dir} is there already`);
    mkdirSync(dir, { recursive: true });
    return dir;
  };
  if (prices !== undefined) {
    const read = await readPriceFiles(path(prices), { providers: providerIds() });
    for (const warning of read.warnings) process.stdout.write(`look at it: ${warning}\n`);
    const dir = target('prices');
    // What is no price file is not read either, and nothing unread is signed.
    cpSync(path(prices), dir, {
      recursive: true,
      filter: (file) => statSync(file).isDirectory() || file.endsWith('.json'),
    });
    process.stdout.write(
      `${dir}: ${read.models} models in ${(await signFolder(dir, key)).length} files, signed\n`,
    );
  }
  if (models !== undefined) {
    readModelOverrides(readFileSync(path(models), 'utf8'));
    const dir = target('models');
    cpSync(path(models), join(dir, 'models.json'));
    await signFolder(dir, key);
    process.stdout.write(`${dir}: signed\n`);
  }
  return 0;
}
