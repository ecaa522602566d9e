import { McpFault, type McpRequest, rpcCodes, type SseBlock } from '@sluice/mcp';
import type { RecordedEvent } from '../event-recorder.ts';
import { withMessage } from '../events.ts';
import type { McpCall } from '../mcp-call.ts';
import { faultBytes, type ServerReply } from '../server-reply.ts';
import type { ToolGuard } from './tool-guard.ts';

interface Judging {
  readonly guard: ToolGuard;
  readonly show: (reply: ServerReply) => Buffer;
  /** Absent = it was recorded when it was told for the first time. */
  readonly recorded?: RecordedEvent;
}

/** Writes the last event of a stream once its checks have looked. Never rejects. */
export async function tellJudged(
  call: McpCall,
  asked: Pick<McpRequest, 'idText'>,
  event: SseBlock,
  reply: ServerReply,
  { guard, show, recorded }: Judging,
): Promise<void> {
  let bytes: Buffer;
  try {
    const judged = await guard.after(reply, recorded);
    const shown = show(judged);
    bytes = shown === reply.bytes ? event.bytes : withMessage(event, shown);
  } catch (error) {
    recorded?.thrown(error);
    bytes = withMessage(event, faultBytes(faultOf(error), asked));
  }
  call.reply.write(bytes);
}

function faultOf(error: unknown): McpFault {
  if (error instanceof McpFault) return error;
  const message = 'The result could not be checked.';
  return new McpFault({ status: 200, code: rpcCodes.internalError, message });
}
