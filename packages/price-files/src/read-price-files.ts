import type { KeyObject } from 'node:crypto';
import { createHash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { repeatedPath } from '@sluice/json';
import {
  FilePrices,
  type FilePriceVersion,
  type ListedModel,
  PriceBook,
  PriceFault,
  type PriceFile,
  type ProviderPrices,
  readPriceFile,
} from '@sluice/pricing';
import { openSignedFolder, type SignedFolder } from '@sluice/signed-files';

export interface ReadOptions {
  /** Of whoever may sign them; undefined = they need no signature. */
  readonly keys?: readonly KeyObject[] | undefined;
  /** Whose prices anybody asks for: the file of another is warned of. Undefined = that is not looked at. */
  readonly providers?: readonly string[] | undefined;
}

/** What was read, and what of it somebody should look at. */
export interface ReadFiles {
  readonly prices: FilePrices;
  readonly warnings: readonly string[];
  readonly models: number;
  /** Of all files as they were: the same while nothing changes. */
  readonly fingerprint: string;
}

const fileBytesMax = 8 * 1024 * 1024;
const filesMax = 1000;
const allBytesMax = 64 * 1024 * 1024;
const warningsMax = 1000;
/** A price so many times that of the catalogue is rather a slip of the unit. */
const factorMax = 5;
/** Comparing a model takes up to a millisecond: nobody shall wait for more of them. */
const modelsPerTurn = 4;

/**
 * Reads `<provider>.json` of a folder, in force from ever, and of the folders in
 * it that are named after a day or an instant, in force from then on. Leaves the
 * loop free between models.
 * @throws PriceFault with the path of the first fault, SignatureFault likewise
 */
export async function readPriceFiles(
  dir: string,
  { keys, providers }: ReadOptions = {},
): Promise<ReadFiles> {
  const signed = keys === undefined ? undefined : await openSignedFolder(dir, keys);
  const warnings: string[] = [];
  const files = await listFiles(dir, warnings);
  signed?.expectAll(files.map(({ path }) => path));
  const listed = new PriceBook();
  const versions = new Map<number, Map<string, ProviderPrices>>();
  const hash = createHash('sha256');
  let bytes = 0;
  let models = 0;
  for (const { path, name, effectiveAtMs } of files) {
    const text = await readBounded(join(dir, path), path, signed);
    bytes += text.length;
    if (bytes > allBytesMax)
      throw new PriceFault(path, `the files have more than ${allBytesMax} bytes together`);
    hash.update(path).update('\0').update(text).update('\0');
    const { models: read, overlooked } = await readFile(path, text);
    models += read.size;
    for (const at of overlooked)
      if (warnings.length < warningsMax) warnings.push(`${path}: ${at}: is no word of price files`);
    const provider = name.slice(0, -'.json'.length);
    if (providers?.includes(provider) === false && warnings.length < warningsMax)
      warnings.push(`${path}: is named after no provider, so nothing has its prices`);
    const version = `files@${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
    const inForce = versions.get(effectiveAtMs) ?? new Map<string, ProviderPrices>();
    if (inForce.has(provider))
      throw new PriceFault(path, 'is in force from the same instant as another of its name');
    inForce.set(provider, { version, models: read });
    versions.set(effectiveAtMs, inForce);
    await warnOfSlips({ path, provider, models: read, listed, warnings });
  }
  const dated: FilePriceVersion[] = [...versions].map(([effectiveAtMs, providers]) => ({
    effectiveAtMs,
    providers,
  }));
  return { prices: new FilePrices(dated), warnings, models, fingerprint: hash.digest('hex') };
}

/** The instant that a folder's name stands for; undefined when it is none. */
export function effectiveAtOf(name: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}(?:T\d{2}[-:]?\d{2}(?:[-:]?\d{2})?Z)?$/.test(name)) return undefined;
  const [day, time] = name.split('T');
  const digits = (time ?? '').replaceAll(/\D/g, '').padEnd(6, '0');
  const at = Date.parse(
    `${day}T${digits.slice(0, 2)}:${digits.slice(2, 4)}:${digits.slice(4, 6)}Z`,
  );
  // The 30th of February is none, and not the second of March.
  return Number.isNaN(at) || !new Date(at).toISOString().startsWith(`${day}T`) ? undefined : at;
}

interface ListedFile {
  path: string;
  name: string;
  effectiveAtMs: number;
}

async function listFiles(dir: string, warnings: string[]): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  const add = (path: string, name: string, effectiveAtMs: number): void => {
    // What is being written, or belongs to the system, begins with a dot.
    if (name.endsWith('.json') && !name.startsWith('.')) files.push({ path, name, effectiveAtMs });
  };
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    add(entry.name, entry.name, 0);
    if (!entry.isDirectory()) continue;
    const effectiveAtMs = effectiveAtOf(entry.name);
    if (effectiveAtMs === undefined) {
      // Meant as one, by whoever wrote it.
      if (/^\d{4}-/.test(entry.name) && warnings.length < warningsMax)
        warnings.push(`${entry.name}: is no day or instant, so its files are never in force`);
      continue;
    }
    for (const name of await readdir(join(dir, entry.name)))
      add(`${entry.name}/${name}`, name, effectiveAtMs);
  }
  if (files.length > filesMax) throw new PriceFault(dir, `has more than ${filesMax} files`);
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function readBounded(
  path: string,
  shown: string,
  signed: SignedFolder | undefined,
): Promise<string> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > fileBytesMax) throw new PriceFault(shown, `has more than ${fileBytesMax} bytes`);
    const bytes = await file.readFile();
    signed?.check(shown, bytes);
    return bytes.toString('utf8');
  } finally {
    await file.close();
  }
}

async function readFile(path: string, text: string): Promise<PriceFile> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    throw new PriceFault(path, `is not JSON: ${(error as Error).message}`);
  }
  const repeated = repeatedPath(Buffer.from(text));
  if (repeated !== undefined) throw new PriceFault(path, `$.${repeated.join('.')}: is there twice`);
  try {
    const reading = readPriceFile(document);
    let step = reading.next();
    for (let count = 1; !step.done; count += 1) {
      if (count % 200 === 0) await turn();
      step = reading.next();
    }
    return step.value;
  } catch (error) {
    if (!(error instanceof PriceFault)) throw error;
    throw new PriceFault(path, error.message);
  }
}

interface Comparison {
  path: string;
  provider: string;
  models: ReadonlyMap<string, ListedModel>;
  listed: PriceBook;
  warnings: string[];
}

async function warnOfSlips({
  path,
  provider,
  models,
  listed,
  warnings,
}: Comparison): Promise<void> {
  const atMs = Date.now();
  let count = 0;
  for (const [model, { standard }] of models) {
    count += 1;
    if (count % modelsPerTurn === 0) await turn();
    const base = listed.find({ provider, model, atMs })?.model.standard.tokens;
    for (const [kind, key] of compared) {
      const [here, there] = [standard.tokens[kind], base?.[kind]];
      if (here === undefined || there === undefined || here === 0 || there === 0) continue;
      const factor = here / there;
      if (factor <= factorMax && factor >= 1 / factorMax) continue;
      if (warnings.length < warningsMax)
        warnings.push(
          `${path}: $.${model}.pricing_config.pay_as_you_go.${key}.price: is ${shown(factor)} times the catalogue’s`,
        );
    }
  }
}

const compared = [
  ['input', 'request_token'],
  ['output', 'response_token'],
] as const;

function shown(factor: number): string {
  return String(Number(factor.toPrecision(2)));
}
