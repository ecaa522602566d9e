import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { SettingsError } from '@sluice/env';
import type { TlsFiles } from '@sluice/rpc';
import { createHttpServer } from '@sluice/service';
import { isWebSocketUpgrade } from '../realtime/serve-sessions.ts';
import type { Env } from '../settings.ts';

/**
 * A port of callers.
 * @param upgrade of WebSockets; undefined = there are none, and who asks for one is answered as anybody
 * @throws Error when its certificate is missing
 */
export function callersServer(
  env: Env,
  certificates: TlsFiles,
  app: RequestListener,
  upgrade?: (req: IncomingMessage, socket: Duplex, head: Buffer) => void,
) {
  const tls = env.HTTP_TLS_ENABLED ? certificates.server : undefined;
  if (env.HTTP_TLS_ENABLED && tls === undefined)
    throw new SettingsError(['HTTP_TLS_ENABLED needs TLS_CERT_PATH and TLS_KEY_PATH.']);
  const server = createHttpServer(
    {
      maxHeaderSize: 64 * 1024,
      shouldUpgradeCallback: upgrade === undefined ? () => false : isWebSocketUpgrade,
    },
    tls,
    app,
  );
  server.headersTimeout = 60_000;
  // Large uploads take their time; silence is what the idle deadline is for.
  server.requestTimeout = 0;
  server.setTimeout(15 * 60_000);
  if (upgrade !== undefined) server.on('upgrade', upgrade);
  return server;
}
