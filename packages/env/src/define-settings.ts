import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** One line of an `settings.ts`: how to read the variable, and a sentence on what it does. */
export interface EnvSpec<T> {
  readonly parse: (raw: string | undefined) => T;
  readonly about: string;
  readonly secret: boolean;
}

export type EnvValues<S extends Record<string, EnvSpec<unknown>>> = {
  readonly [K in keyof S]: S[K] extends EnvSpec<infer T> ? T : never;
};

class EnvFault extends Error {}

function spec<T>(about: string, parse: (raw: string | undefined) => T, secret = false): EnvSpec<T> {
  return { about, parse, secret };
}

function required(raw: string | undefined): string {
  if (raw === undefined || raw === '') throw new EnvFault('is required');
  return raw;
}

/** A string; without a default it is required. */
export function text(about: string, fallback?: string): EnvSpec<string> {
  return spec(about, (raw) =>
    raw === undefined || raw === '' ? (fallback ?? required(raw)) : raw,
  );
}

export function optionalText(about: string): EnvSpec<string | undefined> {
  return spec(about, (raw) => (raw === undefined || raw === '' ? undefined : raw));
}

/** A required secret of at least 16 characters. There are no default secrets. */
export function secret(about: string): EnvSpec<string> {
  return spec(
    about,
    (raw) => {
      const value = required(raw);
      if (value.length < 16) throw new EnvFault('must have at least 16 characters');
      return value;
    },
    true,
  );
}

/** A secret that need not be there. */
export function optionalSecret(about: string): EnvSpec<string | undefined> {
  return spec(about, (raw) => (raw === undefined || raw === '' ? undefined : raw), true);
}

/** A required secret of exactly `bytes` bytes, in hex or base64. */
export function bytesSecret(about: string, bytes: number): EnvSpec<Buffer> {
  return spec(
    about,
    (raw) => {
      const value = required(raw).trim();
      const decoded =
        /^[0-9a-f]+$/i.test(value) && value.length === bytes * 2
          ? Buffer.from(value, 'hex')
          : Buffer.from(value, 'base64');
      if (decoded.length !== bytes) throw new EnvFault(`must be ${bytes} bytes in hex or base64`);
      return decoded;
    },
    true,
  );
}

export function integer(
  about: string,
  fallback: number,
  min = 0,
  max = Number.MAX_SAFE_INTEGER,
): EnvSpec<number> {
  return spec(about, (raw) => {
    if (raw === undefined || raw === '') return fallback;
    const value = Number(raw);
    if (!Number.isInteger(value) || value < min || value > max)
      throw new EnvFault(`must be an integer from ${min} to ${max}`);
    return value;
  });
}

/** `true`/`false`, `ON`/`OFF`, `1`/`0`, in any case. */
export function bool(about: string, fallback: boolean): EnvSpec<boolean> {
  return spec(about, (raw) => {
    if (raw === undefined || raw === '') return fallback;
    const value = raw.toLowerCase();
    if (['true', 'on', '1', 'yes'].includes(value)) return true;
    if (['false', 'off', '0', 'no'].includes(value)) return false;
    throw new EnvFault('must be true or false');
  });
}

/** A comma-separated list; `undefined` when the variable is not set, so that "unset" and "empty" differ. */
export function csv(about: string): EnvSpec<readonly string[] | undefined> {
  return spec(about, (raw) =>
    raw === undefined
      ? undefined
      : raw
          .split(',')
          .map((item) => item.trim())
          .filter((item) => item !== ''),
  );
}

/** A comma-separated list of UUIDs, in lower case; an empty one is as good as none. */
export function uuids(about: string): EnvSpec<readonly string[] | undefined> {
  return spec(about, (raw) => {
    const items = (raw ?? '')
      .split(',')
      .map((item) => item.trim().toLowerCase())
      .filter((item) => item !== '');
    for (const item of items)
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(item))
        throw new EnvFault('must be a comma-separated list of UUIDs');
    return items.length === 0 ? undefined : items;
  });
}

export function oneOf<const T extends string>(
  about: string,
  values: readonly T[],
  fallback: T,
): EnvSpec<T> {
  return spec(about, (raw) => {
    if (raw === undefined || raw === '') return fallback;
    if (!(values as readonly string[]).includes(raw))
      throw new EnvFault(`must be one of ${values.join(', ')}`);
    return raw as T;
  });
}

export function url(about: string, fallback?: string): EnvSpec<string | undefined> {
  return spec(about, (raw) => {
    const value = raw === undefined || raw === '' ? fallback : raw;
    if (value === undefined) return undefined;
    if (!URL.canParse(value)) throw new EnvFault('must be a URL');
    return value;
  });
}

/**
 * Reads every variable of the table. A value that begins with `/`, `./` or
 * `../` names a file, whose trimmed content is the value: a file that is not
 * there is a fault, and never a secret that happens to look like a path.
 * Variables that end in _PATH, _DIR or _FILE name a file on purpose and keep
 * their value, as do the paths of addresses, which end in _URI.
 * @throws Error listing every fault, one a line.
 */
export function defineEnv<S extends Record<string, EnvSpec<unknown>>>(
  specs: S,
  source: NodeJS.ProcessEnv,
): EnvValues<S> {
  const values: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [name, entry] of Object.entries(specs)) {
    try {
      values[name] = entry.parse(fileContent(name, source[name], entry.secret));
    } catch (error) {
      if (!(error instanceof EnvFault)) throw error;
      faults.push(`  ${name} ${error.message} (${entry.about})`);
    }
  }
  if (faults.length > 0) throw new Error(`The environment is not valid:\n${faults.join('\n')}`);
  return values as EnvValues<S>;
}

/** No setting is longer; a log file named by mistake is not read into memory. */
const fileBytesMax = 1024 * 1024;

function fileContent(name: string, raw: string | undefined, isSecret: boolean): string | undefined {
  if (raw === undefined || !/^\.{0,2}\//.test(raw) || /_(PATH|DIR|FILE|URI)$/.test(name))
    return raw;
  const content = readSettingFile(raw, isSecret);
  if (content === '') throw new EnvFault(`names an empty file, ${shownPath(raw, isSecret)}`);
  return content;
}

function readSettingFile(path: string, isSecret: boolean): string {
  const shown = shownPath(path, isSecret);
  try {
    const found = statSync(path);
    if (!found.isFile()) throw new EnvFault(`names ${shown}, which is not a file`);
    if (found.size > fileBytesMax)
      throw new EnvFault(`names ${shown}, which has more than ${fileBytesMax} bytes`);
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof EnvFault) throw error;
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new EnvFault(
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
