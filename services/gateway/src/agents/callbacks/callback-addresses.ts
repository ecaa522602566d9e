import { isObject, type SealedAddresses } from '@sluice/a2a';
import { type PublicAddresses, toolBaseUrl } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { jsonBounds, readJsonText } from '@sluice/json';
import type { ResolvedKey } from '../../compiled/resolved-key.ts';
import { principalOf } from '../../exchange/principal.ts';

/** What an address of ours stands for that an agent calls back. */
export interface CallbackTarget {
  /** As the caller wrote it. */
  readonly url: string;
  readonly serverId: string;
  /** Whose tasks it may hear of. */
  readonly principal: string;
  readonly by: CallbackOwner;
}

/** Who asked to be called back: a key, or the user of a token. */
export type CallbackOwner = { readonly keyHash: string } | { readonly token: TokenOwner };

/** Of a token, which has ended long since when an agent calls back. */
export interface TokenOwner {
  readonly id: string;
  readonly name: string;
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly userId: string;
}

/** Of what is sealed with an address; no server has it as its id. */
const place = 'callbacks';
/** In bytes: agents keep addresses in columns, and ours are half as long again. */
const urlBytesMax = 2000;
/** Of all that is sealed: more is opened by nobody. */
const sealedBytesMax = 3000;
const prefix = '/v1/agent/';
/** What stands in the path of each. */
export const callbackPrefix = `${prefix}~`;

/** Addresses of ours in the place of those where callers want to be called back. */
export class CallbackAddresses {
  readonly #sealed: SealedAddresses;
  readonly #addresses: PublicAddresses;

  constructor(sealed: SealedAddresses, addresses: PublicAddresses) {
    this.#sealed = sealed;
    this.#addresses = addresses;
  }

  /**
   * The same for the same caller, agent and address.
   * @param host that was called: it counts on loopback alone
   * @throws GatewayError where the address is too long, or nobody knows what ours are called
   */
  address(url: string, serverId: string, key: ResolvedKey, host: string | undefined): string {
    const base = toolBaseUrl(this.#addresses, { host, proto: 'http' });
    if (base === '')
      throw new GatewayError('agent.misconfigured', {
        message:
          'This agent calls back through the gateway, whose own address nobody has set (MCP_GATEWAY_BASE_URL, PUBLIC_URL).',
      });
    const { id, name, organisationId, workspaceId, workspaceSlug, userId } = key.source;
    const by: CallbackOwner =
      'validUntilMs' in key
        ? {
            token: {
              id,
              name: name.slice(0, 64),
              organisationId,
              workspaceId,
              workspaceSlug,
              userId,
            },
          }
        : { keyHash: key.hashHex };
    const target: CallbackTarget = { url, serverId, principal: principalOf(key), by };
    const text = JSON.stringify(target);
    if (Buffer.byteLength(url) > urlBytesMax || Buffer.byteLength(text) > sealedBytesMax)
      throw new GatewayError('request.invalid_field', {
        field: 'body.pushNotificationConfig.url',
        message: `An address to call back may have ${urlBytesMax} bytes at most, quotes and control characters counted twice and more.`,
      });
    return `${base}${prefix}${this.#sealed.seal(place, text)}`;
  }

  /** @param segment of the path, after `/v1/agent/`; undefined = it is none of ours */
  open(segment: string): CallbackTarget | undefined {
    const text = this.#sealed.open(place, segment);
    if (text === undefined) return undefined;
    const target = readJsonText(text, jsonBounds.small);
    return isObject(target) ? (target as unknown as CallbackTarget) : undefined;
  }

  /** What a caller gave, of an address that an agent shows; undefined = it is another's, or none of ours. */
  given(address: string, serverId: string): string | undefined {
    const at = address.lastIndexOf(callbackPrefix);
    if (at < 0) return undefined;
    const target = this.open(address.slice(at + prefix.length));
    return target?.serverId === serverId ? target.url : undefined;
  }
}
