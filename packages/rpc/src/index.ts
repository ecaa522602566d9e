/**
 * The bridge between generated service descriptors (protobuf-es) and
 * @grpc/grpc-js, with the shared token and the loopback rule applied in one
 * place. `server.ts` for services that answer, `client.ts` for those that ask.
 */
export { bindServer } from './bind-server.ts';
export { callFault } from './call-fault.ts';
export {
  createRpcClient,
  type DuplexStream,
  type RpcClient,
  type RpcClientOptions,
} from './client.ts';
export {
  mismatch,
  orderText,
  type Peer,
  protocol,
  release,
  type ServiceRole,
  type StoreVersion,
  storeMismatch,
  upgradeOrder,
} from './compatibility.ts';
export { type OnConverted, serviceDefinition } from './definition.ts';
export type { HandshakeOptions, Partner } from './handshake.ts';
export { isUnimplemented } from './is-unimplemented.ts';
export { serverCredentials } from './renewed-credentials.ts';
export {
  type CallContext,
  type RpcHandlers,
  type RpcServer,
  type ServeRpcOptions,
  serveRpc,
  Unavailable,
} from './server.ts';
export {
  type ClientTls,
  clientTls,
  pemOf,
  renewed,
  type ServerTls,
  serverTls,
  type TlsSettings,
} from './tls.ts';
export { TlsFiles } from './tls-files.ts';
export { toldError } from './told-error.ts';
