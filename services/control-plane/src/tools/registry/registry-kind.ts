import type { Database } from '../../kernel/database/client.ts';
import type { Configurations, FoundServer, IntegrationRow, KindTypes, Tables } from './tables.ts';

/**
 * The registry of MCP servers and the registry of agents are built alike:
 *
 * - an integration says where something is and how it is called; it belongs to
 *   the organisation or to one workspace
 * - grants open an integration of the organisation to workspaces
 * - offers are what is there to be used: capabilities of an MCP server, skills of an agent
 * - a server puts an integration into a workspace, under a slug that callers use;
 *   switches turn offers off there, user access says who may call it
 *
 * Below a server nothing can be widened, only narrowed.
 *
 * A kind is what one of the two brings along; everything here is written for both.
 */
export interface RegistryKind<K extends KindTypes = KindTypes> {
  /** In names of fields, tables and slugs. */
  readonly name: 'mcp' | 'agent';
  tables(db: Database): Tables<K>;
  /** An integration as it is answered and written to the audit log. */
  present(row: IntegrationRow<K>): object;
  /** A server as it is written to the audit log. */
  presentServer(row: FoundServer<K>): object;
  /**
   * How something is signed in to, from what was said of it and the settings that it is called with; undefined = as before.
   * @throws 400 where the two contradict each other
   */
  authTypeOf(said: string | undefined, configurations: Configurations): string | undefined;
  /** What people signed in with belongs to the address where they did. */
  forgetSignIns(db: Database, integrationId: string): Promise<void>;
}
