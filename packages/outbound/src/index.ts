/**
 * Calls to hosts that somebody else names, and to none that they must not
 * reach. `host-rules.ts` judges an address as it is written, `guarded-connect.ts`
 * what its name resolves to; start there.
 */

export type { Address } from './address.ts';
export { checkDnsServers } from './dns-lookup.ts';
export { FairPlaces, type FairPlacesOptions, type Leave } from './fair-places.ts';
export {
  type ConnectGuard,
  type ConnectGuardOptions,
  type ConnectPurpose,
  createConnectGuard,
  type OpenSocket,
} from './guarded-connect.ts';
export {
  createGuardedFetch,
  type GuardedFetch,
  type GuardedReply,
  type GuardedRequest,
  type StreamedReply,
  type StreamedRequest,
} from './guarded-fetch.ts';
export {
  type AddressAuthor,
  type CheckedUrl,
  checkHostAndPort,
  checkUpstreamUrl,
  type HostRuleSettings,
  type HostRules,
  isAddressAllowed,
  isWithinGap,
  makeHostRules,
  readHostRules,
  tellDropped,
} from './host-rules.ts';
export { hostileUrls, neverTrustedUrls } from './hostile-urls.ts';
export { hostAndPort } from './own-services.ts';
export {
  createUpstreamPools,
  type PlaceInPool,
  type PoolUse,
  type UpstreamPools,
  type UpstreamPoolsOptions,
} from './pools.ts';
export { OpenedKeys, type SigningRequest, type WrittenKey } from './private-keys/opened-keys.ts';
export { PrivateKeyFault } from './private-keys/private-key-fault.ts';
export { type Proxies, type ProxySettings, readProxies, readProxy } from './proxies.ts';
export { faultOfTls, readTlsIdentity, type TlsIdentity } from './tls-identity.ts';
export { unsendable, upstreamFailure } from './upstream-failure.ts';
export { type PlaceTerms, withPlace } from './with-place.ts';
