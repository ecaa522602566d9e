import type { McpMessage, McpNotification, McpRequest } from '@sluice/mcp';
import type { McpCall } from './mcp-call.ts';
import type { Session } from './session.ts';

/** Whoever serves the messages to a server: one behind the gateway, or several as one. Each answers on `call.reply`, or throws what is told instead. */
export interface ServedServer {
  /** `initialize` of the older era: begins a session. */
  begin(call: McpCall, asked: McpRequest): Promise<void>;
  request(call: McpCall, session: Session, asked: McpRequest): Promise<void>;
  /** A notification, or an answer to what the server asked. */
  tell(call: McpCall, session: Session, message: McpMessage): Promise<void>;
  /** What the server says by itself, until either side ends it. */
  stream(call: McpCall, session: Session, lastEventId: string | undefined): Promise<void>;
  end(call: McpCall, session: Session): Promise<void>;
  /** What stands alone, of the newer era. */
  modern(call: McpCall, message: McpRequest | McpNotification, version: string): Promise<void>;
}
