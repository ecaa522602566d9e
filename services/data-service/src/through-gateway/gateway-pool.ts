import { type ClientTls, renewed } from '@sluice/rpc';
import { buildConnector, Pool } from 'undici';

const usual = 'http://127.0.0.1:8787';
const connectMs = 5_000;

/** Connections to gateways. @param url of `GATEWAY_URL` */
export function gatewayPool(
  url: string | undefined,
  tls: ClientTls = {},
  connections: number,
): Pool {
  const connector = renewed(tls, (pem) => buildConnector({ ...pem, timeout: connectMs }));
  return new Pool(new URL(url ?? usual).origin, {
    connections,
    connect: (...about) => connector()(...about),
  });
}
