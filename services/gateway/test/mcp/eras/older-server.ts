import { type FixtureLog, fixtureServer } from '../fixture-server.ts';
import { startLegacyUpstream, startSseUpstream } from '../legacy-upstream.ts';
import type { NewerServer } from './newer-server.ts';

/** The fixture of the older era, which tells all of its sessions of changes. */
export async function startOlderServer(
  log: FixtureLog,
  transport: 'http' | 'sse',
): Promise<NewerServer> {
  const sessions = new Set<ReturnType<typeof fixtureServer>>();
  const makeServer = () => {
    const server = fixtureServer(log);
    sessions.add(server);
    server.onclose = () => sessions.delete(server);
    return server;
  };
  const { url, close } = await (transport === 'sse'
    ? startSseUpstream(makeServer)
    : startLegacyUpstream({ makeServer }));
  return {
    url,
    close,
    announce() {
      // A session that has ended in between need not hear it.
      for (const session of sessions) {
        session.sendToolListChanged().catch(() => {});
        session.sendResourceUpdated({ uri: 'test://one' }).catch(() => {});
      }
    },
  };
}
