import type { Openers } from '../build-bundle.ts';
import { encodeAgentServer } from '../encode-servers.ts';
import { type AgentServerRow, readAgentServers } from '../server-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

const serversPerRead = 50;

export const agentServers: SectionSource = {
  name: 'agentServers',
  format: 1,
  async *items({ db, open }, { workspaceId, agentServers }) {
    for (let at = 0; at < agentServers.length; at += serversPerRead) {
      const ids = agentServers.slice(at, at + serversPerRead).map(({ id }) => id);
      for (const row of await readAgentServers(db, workspaceId, ids)) yield itemOf(row, open);
    }
  },
  async itemsById({ db, open }, workspaceId, ids) {
    return (await readAgentServers(db, workspaceId, ids)).map((row) => itemOf(row, open));
  },
};

function itemOf(row: AgentServerRow, open: Openers): SectionItem {
  return { id: row.id, bytes: encodeAgentServer(row, open.agentConfigurations(row.integration)) };
}
