import { maskServiceKey } from '@sluice/contracts';
import { isSecretName } from '../audit-logs/mask.ts';
import { invalidField } from '../http/parse-input.ts';

type Path = readonly (string | number)[];

/** Objects that hold credentials and nothing else: each text in them is one, whatever its name. */
const secretAsAWhole = new Set([
  'credentials',
  'vertex_service_account_json',
  'vertexServiceAccountJson',
  'headers',
  'custom_headers',
  'customHeaders',
  'passthrough_header',
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

/**
 * A copy of a document with each of its credentials replaced. What is not a
 * text is no credential: `max_tokens` holds a number, the parameter `api_key`
 * of a tool's schema an object.
 */
export function mapSecrets(
  document: unknown,
  replace: (secret: string, path: Path) => string,
): unknown {
  return map(document, [], 'open');

  function map(value: unknown, path: Path, kind: 'open' | 'secret' | 'all'): unknown {
    if (typeof value === 'string')
      return kind === 'open' || value === '' ? value : replace(value, path);
    if (Array.isArray(value)) return value.map((item, index) => map(item, [...path, index], kind));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        if (withoutSecrets.has(name)) return [name, inner];
        const isWhole = kind === 'all' || secretAsAWhole.has(name);
        const innerKind = isWhole ? 'all' : isSecretName(name) ? 'secret' : 'open';
        return [name, map(inner, [...path, name], innerKind)];
      }),
    );
  }
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
export function maskDocument(document: unknown): unknown {
  return mapSecrets(document, maskValue);
}

/** At most two characters at each end of a secret that is long enough to keep the rest to itself. */
export function maskValue(value: unknown): string {
  return typeof value === 'string' && value.length >= 12 ? maskServiceKey(value) : '*******';
}

const maskedValue = /^(?:\*{7}|.{2}\*{7}.{2})$/s;

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
 * @throws 400 with the path of a mask that stands for nothing, or for several secrets.
 */
export function restoreSecrets(sent: unknown, stored: unknown, field: string): unknown {
  const known: StoredSecret[] = [];
  mapSecrets(stored, (value, path) => {
    known.push({ path, value, mask: maskValue(value) });
    return value;
  });
  return mapSecrets(sent, (value, path) => {
    if (!maskedValue.test(value)) return value;
    const candidates = known.filter(
      (secret) => secret.mask === value && isSamePlace(secret.path, path),
    );
    const [first] = candidates;
    if (first === undefined) throw invalidField(fieldOf(field, path), 'is masked: send its value');
    if (candidates.every((candidate) => candidate.value === first.value)) return first.value;
    const unmoved = candidates.find((candidate) => sameText(candidate.path, path));
    if (unmoved === undefined || !isUnchangedAround(path, sent, maskDocument(stored)))
      throw invalidField(
        fieldOf(field, path),
        'is masked, and could be one of several secrets: send its value',
      );
    return unmoved.value;
  });
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

function fieldOf(field: string, path: Path): string {
  return path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}.${step}`),
    field,
  );
}
