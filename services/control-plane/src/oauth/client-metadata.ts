import { randomBytes } from 'node:crypto';
import { errors } from 'oidc-provider';

/** Drawn, whatever was sent: two clients that say the same of themselves are two. */
export function newClientId(): string {
  return `mcp_${randomBytes(18).toString('base64url')}`;
}

export function isOwnClientId(id: string): boolean {
  return /^mcp_[\w-]{24}$/.test(id);
}

/** What a client may say of itself, and how much of it. */
const redirectUrisMax = 20;
const uriLengthMax = 2_000;
const nameLengthMax = 200;

/** Nobody's private use: they run script, read files or begin something else than an app's own handler. */
const takenSchemes = new Set(
  'about blob chrome data file filesystem ftp ftps intent javascript jar mailto resource sms tel vbscript view-source ws wss'
    .split(' ')
    .map((name) => `${name}:`),
);
const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Called before the library's own checks of what a client says of itself, registered or in a document; may change it.
 * @throws errors.OIDCProviderError 400 `invalid_redirect_uri`, `invalid_client_metadata`
 */
export function checkClientMetadata(metadata: Record<string, unknown>): void {
  // Answers go to apps on the person's machine or to sites; which of both a client calls itself proves nothing, and the
  // rules for redirect addresses are the same: those of apps, which are the stricter ones (RFC 8252).
  metadata.application_type = 'native';
  // Scopes are asked for by each request; what a client registers does not add to or take from them.
  delete metadata.scope;
  const { client_name: name, redirect_uris: uris } = metadata;
  if (typeof name === 'string' && name.length > nameLengthMax)
    throw invalid(`client_name must be at most ${nameLengthMax} characters`);
  if (uris === undefined) return;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > redirectUrisMax)
    throw invalid(`redirect_uris must be a list of 1 to ${redirectUrisMax} addresses`);
  for (const uri of uris) {
    const fault = redirectFault(uri);
    if (fault !== undefined)
      throw new errors.CustomOIDCProviderError('invalid_redirect_uri', `redirect_uris ${fault}`);
  }
}

/** Why an answer must not be sent there; undefined = it may. */
export function redirectFault(uri: unknown): string | undefined {
  if (typeof uri !== 'string' || uri.length > uriLengthMax)
    return `must be texts of at most ${uriLengthMax} characters`;
  // What the parser would drop or turn round must not be compared as if it were not there.
  if (/[^\x21-\x7e]|[\\^`{|}<>"]/.test(uri)) return 'must be written in plain characters';
  if (uri.includes('#')) return 'must not have fragments';
  if (uri.includes('*')) return 'must not have wildcards';
  const url = URL.parse(uri);
  if (url === null) return 'must be absolute addresses';
  if (url.username !== '' || url.password !== '') return 'must not name a user';
  if (url.protocol === 'https:')
    return loopbackHosts.has(url.hostname) ? 'on this machine are written with http' : undefined;
  if (url.protocol === 'http:')
    return loopbackHosts.has(url.hostname)
      ? undefined
      : 'must be https, or http of this machine (localhost, 127.0.0.1, [::1])';
  return takenSchemes.has(url.protocol) ? `must not be of the scheme ${url.protocol}` : undefined;
}

function invalid(message: string): Error {
  return new errors.InvalidClientMetadata(message);
}
