import type { Exchange } from '../exchange/exchange.ts';
import type { ToolCall } from '../exchange/subject.ts';
import { AccessFault } from './enter-server.ts';
import type { EventRecorder } from './event-recorder.ts';
import { UserTokenFault } from './user-tokens.ts';

/** What was asked of a server whose door stayed closed. */
interface AskedAtDoor {
  /** Its name as the caller wrote it. */
  readonly server: string;
  /** HTTP's where no message was read, else the message's. */
  readonly method: string;
  /** The tool, where it is known. */
  readonly capability?: string;
}

/** What is refused before a message is passed on leaves its one record here, where it is known whose it is. */
export async function recordAtDoor(
  caught: unknown,
  { server, method, capability }: AskedAtDoor,
  exchange: Exchange & { subject: ToolCall },
  recorder: Pick<EventRecorder, 'refuse'>,
): Promise<void> {
  const { bundle, subject } = exchange;
  const refusal = doorRefusal(caught);
  if (bundle === undefined || refusal === undefined || subject.event !== undefined) return;
  const { id, slug } = bundle.mcpServer(server)?.source ?? { id: '', slug: server.slice(0, 128) };
  await recorder.refuse(exchange, { server: { id, slug }, method, capability }, refusal);
}

/** Undefined = it is no refusal of a server's door. */
export function doorRefusal(caught: unknown): { code: string; status: number } | undefined {
  if (caught instanceof UserTokenFault) return { code: 'mcp.invalid_token', status: 401 };
  return caught instanceof AccessFault
    ? { code: `mcp.${caught.error}`, status: caught.status }
    : undefined;
}
