import type { Openers } from '../build-bundle.ts';
import { encodeMcpServer } from '../encode-servers.ts';
import { type McpServerRow, readMcpServers } from '../server-rows.ts';
import type { SectionItem, SectionSource } from './section-source.ts';

/** Each may have a thousand capabilities. */
const serversPerRead = 50;

export const mcpServers: SectionSource = {
  name: 'mcpServers',
  format: 1,
  async *items({ db, open }, { workspaceId, mcpServers }) {
    for (let at = 0; at < mcpServers.length; at += serversPerRead) {
      const ids = mcpServers.slice(at, at + serversPerRead).map(({ id }) => id);
      for (const row of await readMcpServers(db, workspaceId, ids)) yield itemOf(row, open);
    }
  },
  async itemsById({ db, open }, workspaceId, ids) {
    return (await readMcpServers(db, workspaceId, ids)).map((row) => itemOf(row, open));
  },
};

function itemOf(row: McpServerRow, open: Openers): SectionItem {
  const { integration } = row;
  const configurations = integration === null ? '' : open.mcpConfigurations(integration);
  return { id: row.id, bytes: encodeMcpServer(row, configurations) };
}
