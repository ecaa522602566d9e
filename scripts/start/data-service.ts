import { join, resolve } from 'node:path';
import { clientTls } from '@sluice/rpc';
import { portsFrom } from '@sluice/stack';
import { readSecrets } from './data-dir.ts';
import { runningGatewayPort } from './run-file.ts';

const root = resolve(import.meta.dirname, '../..');

/** How the data service is reached that the environment names, or else that of `npm start`. */
export function dataService(data: string | undefined) {
  const { DATA_SERVICE_GRPC_URL: address, SERVICE_CLIENT_AUTH: token } = process.env;
  const { TLS_CERT_PATH: certPath, TLS_KEY_PATH: keyPath, TLS_CA_PATH: caPath } = process.env;
  if (address !== undefined && address !== '') {
    if (token === undefined || token === '') throw new Error('SERVICE_CLIENT_AUTH is missing.');
    return {
      address,
      token,
      tls: clientTls({ TLS_CERT_PATH: certPath, TLS_KEY_PATH: keyPath, TLS_CA_PATH: caPath }),
      allowInsecure: process.env.GRPC_ALLOW_INSECURE === 'true',
    };
  }
  // npm changes the folder before it runs a script.
  const dataDir =
    data === undefined
      ? join(root, '.sluice')
      : resolve(process.env.SLUICE_CALLER_DIR ?? process.cwd(), data);
  const port = runningGatewayPort(join(dataDir, 'run.json'));
  const secrets = readSecrets(dataDir);
  if (port === undefined || secrets === undefined)
    throw new Error(
      `No Sluice runs with the data of ${dataDir}. Set DATA_SERVICE_GRPC_URL and SERVICE_CLIENT_AUTH, or use --data.`,
    );
  return { address: `127.0.0.1:${portsFrom(port).dataServiceGrpc}`, token: secrets.service_token };
}
