import { isWellFormedServiceKey, maskServiceKey } from '@sluice/contracts';
import { jsonBounds, readJsonText } from '@sluice/json';
import { isHeaderMap } from './header-maps.ts';

/** Names of fields whose values never reach the audit log, in snake, camel and kebab case. */
const secretName =
  /(^|_)(key|keys|secret|secrets|token|tokens|password|passphrase|credential|credentials|authorization|cookie|signature|private_key|access_key_id)$|(^|_)(api_key|secret|password|service_account|authorization|cookie)(_|$)/;

/** Names that only look like secrets. */
const harmless = new Set([
  'key_transition_period_ms',
  'virtual_key',
  'user_api_key_config',
  'api_key_id',
  'api_key_ids',
  'secret_path',
  'secret_mappings',
  'secret_reference_id',
  'authorization_endpoint',
  'authorization_params',
  'header_key',
  'metadata_keys',
  'workspace_api_key_details',
]);

/** What names like these hold is text; a number may be one that somebody wrote without quotes. */
const singleSecret =
  /(^|_)(key|secret|token|password|passphrase|credential|authorization|cookie|signature)$/;

/** Whose members are named for resources: `api_keys` is no key, but what is asked of the metadata of keys. */
const namesResources = new Set(['metadata_schemas']);

/** A policy's condition says `{ key: "api_key", value: … }`: there `key` names a field. */
const fieldNames =
  /^(api_key|workspace_id|organisation_id|virtual_key|provider|config|prompt|model|endpoint_type|mcp_server|mcp_tool|metadata\..+)$/;

const textMax = 16_384;

/** Long enough to be a service key; whether it is one, its checksum tells. */
const keyLike = /[A-Za-z0-9_-]{49,256}/g;

/** Whether a field of this name holds a secret. */
export function isSecretName(name: string): boolean {
  const snake = snakeCase(name);
  return !harmless.has(snake) && secretName.test(snake);
}

function snakeCase(name: string): string {
  return name
    .replace(/[A-Z]/g, (letter, index: number) => `${index > 0 ? '_' : ''}${letter.toLowerCase()}`)
    .replace(/-/g, '_');
}

/** Parameters of an address that stands in a text, and who asks there. */
const queryParameter = /([?&])([^\s?&=#]+)=[^\s?&#"]+/g;
const userInfo = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#"\\]+@/gi;

/** What parameters of addresses are called beside what fields are: signatures, keys of functions. */
const secretParameter =
  /^(?:sig|sign|signed|hmac|code|auth|apikey|accesskey|pwd|pass|passwd|jwt)$/i;

/** A text, of its addresses the credentials masked: names and passwords before the host, and in queries. */
export function maskAddresses(text: string): string {
  if (!text.includes('?') && !text.includes('://')) return text;
  return text
    .replace(userInfo, (_all, scheme) => `${scheme}${hidden}@`)
    .replace(queryParameter, (parameter, mark, name) =>
      isSecretName(name) || secretParameter.test(name) ? `${mark}${name}=${hidden}` : parameter,
    );
}

const hidden = '*******';

/**
 * Text without the service keys in it, as somebody may put one where an id or a
 * name belongs, and without the credentials of addresses.
 */
export function maskText(text: string): string {
  return maskAddresses(
    text.replace(keyLike, (word) => (isWellFormedServiceKey(word) ? maskServiceKey(word) : word)),
  );
}

/** A document that travels as text is masked like one that does not. */
function maskDocument(text: string, depth: number): string {
  if (!/^\s*[{[]/.test(text)) return maskText(text);
  try {
    return JSON.stringify(maskSecrets(readJsonText(text, jsonBounds.small), depth + 1));
  } catch {
    return maskText(text);
  }
}

/**
 * A copy of the value with every secret in it replaced by asterisks, however deep.
 * A switch and an amount are none, whatever they are called: the log has to tell
 * who may manage keys, and what a token costs.
 */
export function maskSecrets(value: unknown, depth = 0): unknown {
  if (depth > 40) return '…';
  if (typeof value === 'string') return maskDocument(value, depth);
  if (Array.isArray(value)) return value.map((item) => maskSecrets(item, depth + 1));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (isHeaderMap(name)) return [name, maskAll(inner)];
      if (namesResources.has(name)) return [name, maskMembers(inner, depth + 1)];
      const namesField = name === 'key' && typeof inner === 'string' && fieldNames.test(inner);
      return [
        name,
        isSecretName(name) && !namesField
          ? maskTexts(inner, name, depth + 1)
          : maskSecrets(inner, depth + 1),
      ];
    }),
  );
}

function maskMembers(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return maskSecrets(value, depth);
  return mapMembers(value, (inner) => maskSecrets(inner, depth));
}

/** All that could be a secret in what is one by its name: texts, lists, and numbers in the place of a text. */
function maskTexts(value: unknown, name: string, depth: number): unknown {
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (typeof value === 'number') return singleSecret.test(snakeCase(name)) ? '*******' : value;
  if (typeof value !== 'object' || Array.isArray(value) || depth > 40) return '*******';
  return mapMembers(value, (inner, member) => maskTexts(inner, member, depth + 1));
}

function mapMembers(value: object, change: (inner: unknown, name: string) => unknown): object {
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, change(inner, name)]),
  );
}

/** Every value replaced, names of headers kept. */
function maskAll(value: unknown): unknown {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return mapMembers(value, () => '*******');
  return value === null || value === undefined ? value : '*******';
}

/** JSON text of a masked value; what is longer than an entry may hold is kept as its beginning. */
export function maskedJson(value: unknown): string {
  const text = value === undefined ? '' : JSON.stringify(maskSecrets(value));
  return text.length > textMax ? JSON.stringify({ cut: text.slice(0, textMax / 2) }) : text;
}

/** Headers worth keeping; whatever may identify a session or a key is masked. */
export function maskedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): string {
  const kept = Object.entries(headers)
    .slice(0, 100)
    .map(([name, value]) => [
      name,
      isSecretName(name) ? '*******' : maskDocument(String(value), 0).slice(0, 1024),
    ]);
  return JSON.stringify(Object.fromEntries(kept));
}
