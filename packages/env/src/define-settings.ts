import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** What a setting is, apart from how it is read: pages and charts are made of it. */
export interface SettingFacts {
  readonly kind:
    | 'text'
    | 'integer'
    | 'number'
    | 'boolean'
    | 'choice'
    | 'list'
    | 'uuids'
    | 'url'
    | 'bytes';
  /** A sentence on what it does. */
  readonly about: string;
  /** Whether its value is never to be shown. */
  readonly secret: boolean;
  /** Whether the service does not start without it. */
  readonly required: boolean;
  /** What holds when it is not set. */
  readonly fallback?: string | number | boolean | undefined;
  /** Of integers and numbers. */
  readonly min?: number;
  readonly max?: number;
  /** Of choices. */
  readonly values?: readonly string[];
  /** Of `bytes`: how many. */
  readonly size?: number;
}

export interface Setting<T> extends SettingFacts {
  readonly parse: (raw: string | undefined) => T;
}

/** Settings that are read about together, by the names of their variables. */
export type Section = Readonly<Record<string, Setting<unknown>>>;

export type SectionValues<S extends Section> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

type NamesOf<S> = S extends unknown ? keyof S : never;
type ValueOf<S, K extends PropertyKey> =
  S extends Readonly<Record<K, Setting<infer T>>> ? T : never;

/** The values of all sections, beside one another. */
export type SettingValues<S extends Readonly<Record<string, Section>>> = {
  readonly [K in NamesOf<S[keyof S]>]: ValueOf<S[keyof S], K>;
};

/** One setting as data, without what reads it. */
export interface DescribedSetting extends SettingFacts {
  readonly name: string;
  readonly section: string;
}

/** All that a service can be told. */
export interface Settings<V> {
  /** In the order in which they stand in the source. */
  readonly described: readonly DescribedSetting[];
  /** @throws Error listing every fault, one a line. */
  readEnv(source: NodeJS.ProcessEnv): V;
}

class SettingFault extends Error {}

type Traits = Partial<Omit<SettingFacts, 'kind' | 'about'>>;

function setting<T>(
  kind: SettingFacts['kind'],
  about: string,
  traits: Traits,
  parse: (raw: string | undefined) => T,
): Setting<T> {
  return { kind, about, secret: false, required: false, ...traits, parse };
}

function required(raw: string | undefined): string {
  if (raw === undefined || raw === '') throw new SettingFault('is required');
  return raw;
}

/** A string; without a default it is required. */
export function text(about: string, fallback?: string): Setting<string> {
  return setting('text', about, { fallback, required: fallback === undefined }, (raw) =>
    raw === undefined || raw === '' ? (fallback ?? required(raw)) : raw,
  );
}

export function optionalText(about: string): Setting<string | undefined> {
  return setting('text', about, {}, (raw) => (raw === undefined || raw === '' ? undefined : raw));
}

/** A required secret of at least 16 characters. There are no default secrets. */
export function secret(about: string): Setting<string> {
  return setting('text', about, { secret: true, required: true }, (raw) => {
    const value = required(raw);
    if (value.length < 16) throw new SettingFault('must have at least 16 characters');
    return value;
  });
}

/** A secret that need not be there. */
export function optionalSecret(about: string): Setting<string | undefined> {
  return { ...optionalText(about), secret: true };
}

/** A required secret of exactly `bytes` bytes, in hex or base64. */
export function bytesSecret(about: string, bytes: number): Setting<Buffer> {
  return setting('bytes', about, { secret: true, required: true, size: bytes }, (raw) => {
    const value = required(raw).trim();
    const decoded =
      /^[0-9a-f]+$/i.test(value) && value.length === bytes * 2
        ? Buffer.from(value, 'hex')
        : Buffer.from(value, 'base64');
    if (decoded.length !== bytes) throw new SettingFault(`must be ${bytes} bytes in hex or base64`);
    return decoded;
  });
}

/** Further secrets of exactly `bytes` bytes, separated by commas; none unless set. */
export function bytesSecrets(about: string, bytes: number): Setting<readonly Buffer[]> {
  const one = bytesSecret(about, bytes);
  return setting('list', about, { secret: true }, (raw) =>
    partsOf(raw).map((part) => one.parse(part)),
  );
}

/** Further secrets of at least 16 characters, separated by commas; none unless set. */
export function secrets(about: string): Setting<readonly string[]> {
  const one = secret(about);
  return setting('list', about, { secret: true }, (raw) =>
    partsOf(raw).map((part) => one.parse(part)),
  );
}

const partsOf = (raw: string | undefined): string[] =>
  (raw ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export function integer(
  about: string,
  fallback: number,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): Setting<number> {
  return setting('integer', about, { fallback, min, max }, (raw) => {
    if (raw === undefined || raw.trim() === '') return fallback;
    const value = Number(raw);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new SettingFault(`must be an integer from ${min} to ${max}`);
    return value;
  });
}

/** `true`/`false`, `ON`/`OFF`, `1`/`0`, in any case. */
/** A number that need not be whole. */
export function decimal(
  about: string,
  fallback: number,
  min: number,
  max: number,
): Setting<number> {
  return setting('number', about, { fallback, min, max }, (raw) => {
    if (raw === undefined || raw.trim() === '') return fallback;
    const value = Number(raw);
    if (!(value >= min && value <= max))
      throw new SettingFault(`must be a number from ${min} to ${max}`);
    return value;
  });
}

export function bool(about: string, fallback: boolean): Setting<boolean> {
  return setting('boolean', about, { fallback }, (raw) => {
    if (raw === undefined || raw === '') return fallback;
    const value = raw.toLowerCase();
    if (['true', 'on', '1', 'yes'].includes(value)) return true;
    if (['false', 'off', '0', 'no'].includes(value)) return false;
    throw new SettingFault('must be true or false');
  });
}

/** A comma-separated list; `undefined` when the variable is not set, so that "unset" and "empty" differ. */
export function csv(about: string): Setting<readonly string[] | undefined> {
  return setting('list', about, {}, (raw) =>
    raw === undefined
      ? undefined
      : raw
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
  );
}

/** Ascending numbers, separated by commas; not more than the default has, since each costs. */
export function ascending(about: string, fallback: readonly number[]): Setting<readonly number[]> {
  return setting('list', about, { fallback: fallback.join(', ') }, (raw) => {
    if (raw === undefined || raw.trim() === '') return fallback;
    const values = raw.split(',').map((item) => (item.trim() === '' ? Number.NaN : Number(item)));
    const isAscending = values.every(
      (value, at) => Number.isFinite(value) && value > (values[at - 1] ?? 0),
    );
    if (!isAscending || values.length > fallback.length)
      throw new SettingFault(
        `must be ${fallback.length} numbers above 0 at most, ascending, separated by commas`,
      );
    return values;
  });
}

/** A comma-separated list of UUIDs, in lower case; an empty one is as good as none. */
export function uuids(about: string): Setting<readonly string[] | undefined> {
  return setting('uuids', about, {}, (raw) => {
    const items = (raw ?? '')
      .split(',')
      .map((item) => item.trim().toLowerCase())
      .filter((item) => item !== '');
    for (const item of items)
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(item))
        throw new SettingFault('must be a comma-separated list of UUIDs');
    return items.length === 0 ? undefined : items;
  });
}

export function oneOf<const T extends string>(
  about: string,
  values: readonly T[],
  fallback: T,
): Setting<T> {
  return setting('choice', about, { fallback, values }, (raw) => {
    if (raw === undefined || raw === '') return fallback;
    const value = values.find((known) => known === raw);
    if (value === undefined) throw new SettingFault(`must be one of ${values.join(', ')}`);
    return value;
  });
}

/** One of HTTP. */
export function url(about: string, fallback?: string): Setting<string | undefined> {
  return setting('url', about, { fallback }, (raw) => {
    const value = raw === undefined || raw.trim() === '' ? fallback : raw.trim();
    if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? ''))
      throw new SettingFault('must be a URL that begins with http:// or https://');
    return value;
  });
}

/** Where gRPC is asked: `host:port`, or `dns:`, `unix:` and the like as it takes them. */
export function grpcAddress(about: string, fallback: string): Setting<string> {
  return checked(text(about, fallback), (value) => {
    if (/^(dns|ipv4|ipv6|unix|unix-abstract):\S+$/.test(value)) return;
    // Without a port gRPC would ask 443, silently.
    const port = Number(/^(?:\[[^\]\s]+\]|[\w.-]+):(\d{1,5})$/.exec(value)?.[1]);
    if (!(port > 0 && port <= 65_535)) throw new Error('must be host:port');
  });
}

/** Certificates as PEM, none unless set. */
export function certificates(about: string): Setting<string | undefined> {
  return checked(optionalText(about), (value) => {
    try {
      new X509Certificate(value);
    } catch {
      throw new Error('must hold a certificate as PEM');
    }
  });
}

/** One that may have a password in it. */
export function secretUrl(about: string): Setting<string | undefined> {
  return { ...url(about), secret: true };
}

/**
 * The same, asked whether what it says can be used.
 * @param check  throws what is wrong with a value that is there, as the end of a sentence that its name begins; nothing of a secret
 */
export function checked<T>(
  entry: Setting<T>,
  check: (value: NonNullable<T>) => unknown,
): Setting<T> {
  const parse = (raw: string | undefined): T => {
    const value = entry.parse(raw);
    try {
      if (value !== undefined && value !== null) check(value);
    } catch (error) {
      throw new SettingFault((error as Error).message);
    }
    return value;
  };
  return { ...entry, parse };
}

/**
 * What is made of several settings together.
 * @param make  throws what is wrong with them, with their names
 * @throws SettingsError
 */
export function ofSettings<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new SettingsError([(error as Error).message]);
  }
}

/** What of the environment is not valid: all of it, one sentence a variable, and no value of a secret. */
export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The environment is not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'SettingsError';
    this.faults = faults;
  }
}

/** @param sections by the titles that pages give them; a variable stands in one of them */
export function defineSettings<const S extends Readonly<Record<string, Section>>>(
  sections: S,
): Settings<SettingValues<S>> {
  const known = new Map<string, Setting<unknown>>();
  const described: DescribedSetting[] = [];
  for (const [section, settings] of Object.entries(sections))
    for (const [name, entry] of Object.entries(settings)) {
      if (known.has(name)) throw new Error(`${name} stands in two sections`);
      known.set(name, entry);
      const { parse: _, ...facts } = entry;
      described.push({ name, section, ...facts });
    }
  return { described, readEnv: (source) => readValues(known, source) as SettingValues<S> };
}

/**
 * Reads every variable. A value that begins with `/`, `./` or
 * `../` names a file, whose trimmed content is the value: a file that is not
 * there is a fault, and never a secret that happens to look like a path.
 * Variables that end in _PATH, _DIR or _FILE name a file on purpose and keep
 * their value, as do the paths of addresses, which end in _URI.
 */
function readValues(
  settings: ReadonlyMap<string, Setting<unknown>>,
  source: NodeJS.ProcessEnv,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, entry] of settings) {
    try {
      values[name] = entry.parse(fileContent(name, source[name], entry.secret));
    } catch (error) {
      if (!(error instanceof SettingFault)) throw error;
      faults.push(`${name} ${error.message} (${entry.about})`);
    }
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return values;
}

/** No setting is longer; a log file named by mistake is not read into memory. */
const fileBytesMax = 1024 * 1024;

function fileContent(name: string, raw: string | undefined, isSecret: boolean): string | undefined {
  if (raw === undefined || !/^\.{0,2}\//.test(raw) || /_(PATH|DIR|FILE|URI)$/.test(name))
    return raw;
  const content = readSettingFile(raw, isSecret);
  if (content === '') throw new SettingFault(`names an empty file, ${shownPath(raw, isSecret)}`);
  return content;
}

function readSettingFile(path: string, isSecret: boolean): string {
  const shown = shownPath(path, isSecret);
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new SettingFault(`names ${shown}, which is not a file`);
    if (found.size > fileBytesMax)
      throw new SettingFault(`names ${shown}, which has more than ${fileBytesMax} bytes`);
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof SettingFault) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new SettingFault(
      `names the file ${shown}, which cannot be read (${code}); a value that begins with a slash itself must be put into a file`,
    );
  }
}

/**
 * Base64 may begin with a slash: what is meant to be a secret is shown only
 * when it can hardly be anything but a path.
 */
function shownPath(path: string, isSecret: boolean): string {
  const folder = dirname(path);
  const isPath = !/^(\/|\.{1,2}\/?)$/.test(folder) && existsSync(folder);
  return isSecret && !isPath ? '(not shown, it may be the secret itself)' : path;
}
