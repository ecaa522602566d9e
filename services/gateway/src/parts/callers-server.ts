import type { IncomingMessage, RequestListener } from 'node:http';
import type { Duplex } from 'node:stream';
import { headerPrefixes } from '@sluice/contracts';
import { SettingsError } from '@sluice/env';
import type { TlsFiles } from '@sluice/rpc';
import { createHttpServer } from '@sluice/service';
import { refuseUnreadable } from '../http/refuse-unreadable.ts';
import { isWebSocketUpgrade } from '../realtime/serve-sessions.ts';
import type { Env } from '../settings.ts';

const headerBytesMax = 64 * 1024;
const headersTimeoutMs = 60_000;

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
      maxHeaderSize: headerBytesMax,
      shouldUpgradeCallback: upgrade === undefined ? () => false : isWebSocketUpgrade,
    },
    tls,
    app,
  );
  server.headersTimeout = headersTimeoutMs;
  // Large uploads take their time; silence is what the idle deadline is for.
  server.requestTimeout = 0;
  server.setTimeout(15 * 60_000);
  if (upgrade !== undefined) server.on('upgrade', upgrade);
  const prefixes = headerPrefixes(env.HEADER_PREFIX, env.HEADER_PREFIX_ALIASES);
  refuseUnreadable(server, prefixes, { headerBytesMax, headersTimeoutMs });
  return server;
}
