import type { IncomingMessage, ServerResponse } from 'node:http';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

/** Alive: the event loop answers. Depends on nothing else, so that no outage elsewhere restarts a gateway. */
export const live: Handler = (_req, res) => json(res, 200, { status: 'ok', service: 'gateway' });

export interface Readiness {
  ready: boolean;
  draining: boolean;
  /** `refused`: one of the two is of a release that the other cannot know; the log names both. */
  controlPlane: 'connected' | 'away' | 'refused';
  /** `different`: it knows keys by another pepper, so that every key would be refused. */
  keyPepper: 'same' | 'different';
  /** Of records: `refused` as above; they wait in the outbox. */
  ledger: 'taken' | 'refused';
}

/** Ready: has something to decide with, and is not on its way out. */
export function ready(state: () => Readiness): Handler {
  return (_req, res) => {
    const { ready, draining, controlPlane, keyPepper, ledger } = state();
    const ok = ready && !draining && keyPepper === 'same';
    json(res, ok ? 200 : 503, {
      status: ok ? 'ok' : draining ? 'draining' : 'starting',
      control_plane: controlPlane,
      ...(keyPepper === 'different' ? { key_pepper: keyPepper } : {}),
      ...(ledger === 'refused' ? { ledger } : {}),
    });
  };
}

function json(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify(body));
}
