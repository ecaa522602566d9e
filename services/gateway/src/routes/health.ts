import type { IncomingMessage, ServerResponse } from 'node:http';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Alive: the event loop answers. Depends on nothing else, so that no outage elsewhere restarts a gateway. */
export const live: Handler = (_req, res) => json(res, 200, { status: 'ok', service: 'gateway' });

/** Ready: has something to decide with, and is not on its way out. */
export function ready(
  state: () => { ready: boolean; draining: boolean; controlPlane: boolean },
): Handler {
  return (_req, res) => {
    const { ready, draining, controlPlane } = state();
    const ok = ready && !draining;
    json(res, ok ? 200 : 503, {
      status: ok ? 'ok' : draining ? 'draining' : 'starting',
      control_plane: controlPlane ? 'connected' : 'away',
    });
  };
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}
