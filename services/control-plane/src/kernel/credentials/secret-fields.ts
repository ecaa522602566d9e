import { maskServiceKey } from '@sluice/contracts';
import { invalidField } from '@sluice/errors';
import { isHeaderMap } from './header-maps.ts';
import { isSecretName, maskAddresses } from './mask.ts';

/** The way to a value in a document. */
export type Path = readonly (string | number)[];

/** Objects that hold credentials and nothing else: each text in them is one, whatever its name. */
const secretAsAWhole = new Set([
  'credentials',
  'vertex_service_account_json',
  'vertexServiceAccountJson',
]);

/**
 * What stands below these only sounds like credentials: queries that compare
 * what callers send, parameters of checks that name fields, public keys, and
 * headers that are named, not held.
 */
const withoutSecrets = new Set([
  'strategy',
  'keys',
  'headerKey',
  'metadataKeys',
  'metadataPairs',
  'headerPayloadMatch',
  'claimValues',
  'jwks',
  'forward_headers',
]);

/** What stands for a secret where it is shown: for the credentials in an address, which else is as it was. */
export type Mask = (secret: string) => string;

/**
 * A copy of a document with each of its credentials replaced, and each address that
 * holds some. What is not a text is no credential: `max_tokens` holds a number, the
 * parameter `api_key` of a tool's schema an object.
 * @param name of the field that the document is the value of: it may make all of it secret
 */
export function mapSecrets(
  document: unknown,
  replace: (secret: string, path: Path, mask: Mask) => string,
  name = '',
): unknown {
  return map(document, [], isSecretAsAWhole(name) ? 'all' : 'open');

  function map(value: unknown, path: Path, kind: 'open' | 'secret' | 'all'): unknown {
    if (typeof value === 'string') {
      const mask = value === '' ? undefined : kind === 'open' ? maskOfAddress(value) : maskValue;
      return mask === undefined ? value : replace(value, path, mask);
    }
    if (Array.isArray(value)) return value.map((item, index) => map(item, [...path, index], kind));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (withoutSecrets.has(name)) return [name, inner];
        const isWhole = kind === 'all' || isSecretAsAWhole(name);
        const innerKind = isWhole ? 'all' : isSecretName(name) ? 'secret' : 'open';
        return [name, map(inner, [...path, name], innerKind)];
      }),
    );
  }
}

/** Undefined = it is no address, or holds no credentials. */
export function maskOfAddress(value: string): Mask | undefined {
  if (!/^\s*[a-z][a-z0-9+.-]*:\/\/\S+\s*$/i.test(value)) return undefined;
  return hidesNothing(value) ? undefined : maskAddresses;
}

/** What is masked already is an address with credentials all the same. */
function hidesNothing(address: string): boolean {
  return maskAddresses(address) === address && !maskInAddress.test(address);
}

const maskInAddress = /(?:[=/])\*{7}(?=[@&#\s]|$)/;

function isSecretAsAWhole(name: string): boolean {
  return secretAsAWhole.has(name) || isHeaderMap(name);
}

export function holdsSecrets(document: unknown): boolean {
  let found = false;
  mapSecrets(document, (secret) => {
    found = true;
    return secret;
  });
  return found;
}

/** The document as it may be shown and stored in clear. */
export function maskDocument(document: unknown, name?: string): unknown {
  return mapSecrets(document, (secret, _path, mask) => mask(secret), name);
}

/** At most two characters at each end of a secret that is long enough to keep the rest to itself. */
export function maskValue(value: unknown): string {
  return typeof value === 'string' && value.length >= 12 ? maskServiceKey(value) : '*******';
}

const maskedValue = /^(?:\*{7}|.{2}\*{7}.{2})$/s;

/** Whether a value looks like one that was masked, or is an address with a mask in it: no secret does. */
export function isMask(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return maskedValue.test(value) || (value.includes('://') && maskInAddress.test(value));
}

/**
 * A value that may be the mask of what is kept: someone who sends back what
 * they were shown does not mean the asterisks.
 * @param field where the value stands in the request
 * @throws 400 when it is the mask of something else
 */
export function keepMasked<T>(before: T, change: T, field: string): T {
  if (before !== undefined && before !== null && change === maskValue(before)) return before;
  if (isMask(change)) throw invalidField(field, 'is masked: send its value');
  return change;
}

interface StoredSecret {
  path: Path;
  value: string;
  mask: string;
}

/**
 * The document that somebody means who sends one back as it was shown to them:
 * masks are replaced by the secrets behind them. A target may have moved within
 * its list; what a mask stands for must still be beyond doubt.
 * @param field where the document stands in the request
 * @param name  of the field that it is the value of
 * @throws 400 with the path of a mask that stands for nothing, or for several secrets.
 */
export function restoreSecrets(
  sent: unknown,
  stored: unknown,
  field: string,
  name?: string,
): unknown {
  const known: StoredSecret[] = [];
  const remember = (value: string, path: Path, mask: Mask) => {
    known.push({ path, value, mask: mask(value) });
    return value;
  };
  mapSecrets(stored, remember, name);
  const restore = (value: string, path: Path) => {
    if (!isMask(value)) return value;
    const candidates = known.filter(
      (secret) => secret.mask === value && isSamePlace(secret.path, path),
    );
    const [first] = candidates;
    if (first === undefined) throw invalidField(fieldOf(field, path), 'is masked: send its value');
    if (candidates.every((candidate) => candidate.value === first.value)) return first.value;
    const unmoved = candidates.find((candidate) => sameText(candidate.path, path));
    if (unmoved === undefined || !isUnchangedAround(path, sent, maskDocument(stored, name)))
      throw invalidField(
        fieldOf(field, path),
        'is masked, and could be one of several secrets: send its value',
      );
    return unmoved.value;
  };
  return mapSecrets(sent, restore, name);
}

/** The same names on the way there; positions in lists may differ. */
function isSamePlace(a: Path, b: Path): boolean {
  return (
    a.length === b.length &&
    a.every(
      (step, index) =>
        step === b[index] || (typeof step === 'number' && typeof b[index] === 'number'),
    )
  );
}

/** No list on the way grew or shrank, and what holds the secret is as it was shown. */
function isUnchangedAround(path: Path, sent: unknown, shown: unknown): boolean {
  let [now, before] = [sent, shown];
  for (const step of path.slice(0, -1)) {
    if (Array.isArray(now) && now.length !== (before as unknown[]).length) return false;
    now = (now as Record<string | number, unknown>)[step];
    before = (before as Record<string | number, unknown>)[step];
  }
  return sameText(now, before);
}

function sameText(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The place of a value in a request, e.g. `body.config.targets[0].api_key`. */
export function fieldOf(field: string, path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step}`),
    field,
  );
}
