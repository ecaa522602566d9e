import { type ClientTls, pemOf } from '@sluice/rpc';
import { buildConnector, Pool } from 'undici';

const usual = 'http://127.0.0.1:8787';
const connectMs = 5_000;

/** Connections to gateways. @param url of `GATEWAY_URL` */
export function gatewayPool(
  url: string | undefined,
  tls: ClientTls = {},
  connections: number,
): Pool {
  const connectorOf = (of: ClientTls) => buildConnector({ ...pemOf(of), timeout: connectMs });
  let connect = connectorOf(tls);
  tls.renewals?.((next) => {
    connect = connectorOf(next);
  });
  return new Pool(new URL(url ?? usual).origin, {
    connections,
    connect: (...about) => connect(...about),
  });
}
