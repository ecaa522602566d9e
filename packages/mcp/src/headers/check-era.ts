import type { JsonObject, JsonValue } from '@sluice/contracts';
import { declares } from '../capabilities/asked-of-client.ts';
import {
  assumedVersion,
  isModernVersion,
  legacyVersions,
  metaKeys,
  modernVersions,
  namedMethods,
  removedMethods,
  subjectFields,
  supportedVersions,
} from '../envelope/protocol.ts';
import { isObject, type McpMessage, type McpRequest } from '../envelope/read-message.ts';
import { McpFault, rpcCodes } from '../fault.ts';
import {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderMap,
  headerValue,
} from './header-value.ts';

/** How a message is to be served. */
export type Era =
  | {
      readonly era: 'legacy';
      readonly version: string /** It came in a header, not by assumption. */;
      readonly isNamed: boolean;
    }
  | { readonly era: 'modern'; readonly version: string };

/** The era that the message itself claims. A header never decides it: proxies drop headers. */
export function eraOf(message: McpMessage): Era['era'] {
  if (message.kind === 'response' || message.kind === 'error') return 'legacy';
  if (message.method === 'server/discover') return 'modern';
  const claimed = claimOf(message.meta);
  if (message.method === 'initialize')
    return typeof claimed === 'string' && isModernVersion(claimed) ? 'modern' : 'legacy';
  return claimed === undefined ? 'legacy' : 'modern';
}

/**
 * Which era a caller's message is of, after all that its headers must say has been held against its body.
 * `initialize` and `server/discover` are let pass however the headers look: a client that asks what it is speaking to
 * must not be sent into the wrong era.
 * @throws McpFault 400: −32020 where headers and body differ, −32022 for a version that nobody speaks, −32602 for a
 *   modern request without what its `_meta` must have; 404 −32601 for a method that its revision has taken out
 */
export function checkEra(message: McpMessage, headers: HeaderMap): Era {
  const inHeader = headerValue(headers, 'mcp-protocol-version');
  if (eraOf(message) === 'legacy') return legacyEra(message, inHeader);
  if (message.kind !== 'request' && message.kind !== 'notification')
    throw new Error('Only what asks has a modern era.');
  const idText = message.kind === 'request' ? message.idText : undefined;
  const isProbe = message.method === 'server/discover';
  const claimed = checkedClaim(message.meta, message.kind === 'request', idText);
  if (!isProbe) {
    if (inHeader !== undefined && inHeader !== claimed)
      throw mismatch(idText, 'MCP-Protocol-Version', inHeader, `_meta names ${claimed}`);
    const method = headerValue(headers, 'mcp-method');
    if (method !== undefined && method !== message.method)
      throw mismatch(idText, 'Mcp-Method', method, `the body's method is ${message.method}`);
  }
  if (!modernVersions.includes(claimed)) {
    // Refused in either case: a probe whose version nobody speaks gains nothing by being let pass.
    if (inHeader !== undefined && inHeader !== claimed)
      throw mismatch(idText, 'MCP-Protocol-Version', inHeader, `_meta names ${claimed}`);
    throw unsupportedVersion(claimed, idText);
  }
  if (!isProbe && message.kind === 'request') checkPresence(message, headers);
  if (removedMethods.has(message.method))
    throw new McpFault({
      status: 404,
      code: rpcCodes.methodNotFound,
      message: `Method not found: ${message.method} is not of ${claimed}.`,
      idText,
    });
  return { era: 'modern', version: claimed };
}

function legacyEra(message: McpMessage, inHeader: string | undefined): Era {
  const isInitialize = message.kind === 'request' && message.method === 'initialize';
  if (isInitialize) {
    const { version } = negotiated(message.params?.protocolVersion);
    return { era: 'legacy', version, isNamed: true };
  }
  if (inHeader === undefined) return { era: 'legacy', version: assumedVersion, isNamed: false };
  if (legacyVersions.includes(inHeader)) return { era: 'legacy', version: inHeader, isNamed: true };
  const idText = 'idText' in message ? message.idText : undefined;
  if (!isModernVersion(inHeader))
    throw new McpFault({
      status: 400,
      code: rpcCodes.invalidRequest,
      message: `MCP-Protocol-Version ${shown(inHeader)} is not supported: it must be one of ${supportedVersions.join(', ')}.`,
      data: { supported: supportedVersions, requested: shown(inHeader) },
      idText,
    });
  // What a modern caller tells of its own accord has no _meta of requests, and nothing is done with it.
  if (message.kind === 'notification') return { era: 'modern', version: inHeader };
  if (!modernVersions.includes(inHeader)) throw unsupportedVersion(inHeader, idText);
  throw new McpFault({
    status: 400,
    code: rpcCodes.invalidParams,
    message: `MCP-Protocol-Version names ${inHeader}: params._meta must have ${metaKeys.protocolVersion} and ${metaKeys.clientCapabilities}.`,
    data: { missing: [metaKeys.protocolVersion, metaKeys.clientCapabilities] },
    idText,
  });
}

/** The version that is answered to `initialize`: what was asked for where that is spoken, else the newest. */
export function negotiated(requested: JsonValue | undefined): { version: string } {
  const isKnown = typeof requested === 'string' && legacyVersions.includes(requested);
  return { version: isKnown ? requested : (legacyVersions[0] as string) };
}

function claimOf(meta: JsonObject | undefined): JsonValue | undefined {
  return meta?.[metaKeys.protocolVersion];
}

/** The version that `_meta` names, after the rest of what it must have was looked at. */
function checkedClaim(
  meta: JsonObject | undefined,
  isRequest: boolean,
  idText: string | undefined,
): string {
  const faults: string[] = [];
  const claimed = claimOf(meta);
  const capabilities = meta?.[metaKeys.clientCapabilities];
  const info = meta?.[metaKeys.clientInfo];
  if (typeof claimed !== 'string') faults.push(`${metaKeys.protocolVersion} must be a version`);
  if (isRequest && !isObject(capabilities))
    faults.push(`${metaKeys.clientCapabilities} must be an object`);
  if (info !== undefined && !isImplementation(info))
    faults.push(`${metaKeys.clientInfo} must be an object with name and version`);
  if (faults.length === 0) return claimed as string;
  throw new McpFault({
    status: 400,
    code: rpcCodes.invalidParams,
    message: `params._meta is not that of a request of ${modernVersions[0]}: ${faults.join('; ')}.`,
    data: { faults },
    idText,
  });
}

function isImplementation(info: JsonValue): boolean {
  return isObject(info) && typeof info.name === 'string' && typeof info.version === 'string';
}

function checkPresence(message: McpRequest, headers: HeaderMap): void {
  const { idText, method } = message;
  for (const name of ['MCP-Protocol-Version', 'Mcp-Method'])
    if (headerValue(headers, name.toLowerCase()) === undefined)
      throw mismatch(idText, name, undefined, 'it must repeat what the body says');
  if (!namedMethods.has(method)) return;
  const field = subjectFields.get(method) as string;
  const inBody = message.params?.[field];
  const value = headerValue(headers, 'mcp-name');
  // A body without a name is answered by whoever looks at names.
  if (value === undefined && typeof inBody !== 'string') return;
  if (value === undefined)
    throw mismatch(idText, 'Mcp-Name', undefined, `it must repeat params.${field}`);
  const decoded = decodeHeaderValue(value);
  if (decoded === undefined) throw mismatch(idText, 'Mcp-Name', value, 'its base64 is none');
  if (decoded !== inBody) throw mismatch(idText, 'Mcp-Name', value, `params.${field} is another`);
}

/** @throws McpFault −32021 where the caller has not declared a capability, e.g. `elicitation` or `elicitation.url` */
export function requireClientCapability(message: McpRequest, capability: string): void {
  if (declares(message.meta?.[metaKeys.clientCapabilities], capability)) return;
  throw new McpFault({
    status: 400,
    code: rpcCodes.missingClientCapability,
    message: `The client must declare the capability ${capability}.`,
    data: { requiredCapabilities: nested(capability.split('.')) },
    idText: message.idText,
  });
}

function nested([first, ...rest]: string[]): JsonObject {
  return first === undefined ? {} : { [first]: nested(rest) };
}

/** The headers that a modern request is sent with, made of its body. `params` as they are sent. */
export function requestHeaders(
  method: string,
  params: JsonObject | undefined,
  version: string,
): Record<string, string> {
  const headers: Record<string, string> = {
    'mcp-protocol-version': version,
    'mcp-method': method,
  };
  const subject = namedMethods.has(method)
    ? params?.[subjectFields.get(method) as string]
    : undefined;
  if (typeof subject === 'string') headers['mcp-name'] = encodeHeaderValue(subject);
  return headers;
}

/** −32022, with the versions that `server/discover` names: those with sessions are `initialize`'s. */
export function unsupportedVersion(requested: string, idText?: string): McpFault {
  return new McpFault({
    status: 400,
    code: rpcCodes.unsupportedVersion,
    message: `Unsupported protocol version: ${shown(requested)}. Supported: ${modernVersions.join(', ')}.`,
    data: { supported: modernVersions, requested: shown(requested) },
    idText,
  });
}

function mismatch(
  idText: string | undefined,
  header: string,
  value: string | undefined,
  body: string,
): McpFault {
  const said = value === undefined ? 'is missing' : `says ${JSON.stringify(shown(value))}`;
  return new McpFault({
    status: 400,
    code: rpcCodes.headerMismatch,
    message: `Headers and body disagree: ${header} ${said}, ${body}.`,
    data: { mismatch: { header, ...(value === undefined ? {} : { value: shown(value) }) } },
    idText,
  });
}

const shownLengthMax = 128;

function shown(value: string): string {
  return value.length > shownLengthMax ? `${value.slice(0, shownLengthMax)}…` : value;
}
