import type { McpRequest } from '@sluice/mcp';
import type { Access, Admitted } from '../access.ts';
import type { RecordedEvent } from '../event-recorder.ts';
import type { McpCall } from '../mcp-call.ts';
import type { ToolGuard } from './tool-guard.ts';
import type { ToolGuards } from './tool-guards.ts';

export interface Entered extends Admitted {
  /** What looks at the answer; undefined = nothing does. */
  readonly guard: ToolGuard | undefined;
}

/**
 * What all requests pass before their server hears of them: rights, limits, guardrails.
 * @throws McpFault, GatewayError, ToolDenial
 */
export async function enter(
  call: McpCall,
  asked: McpRequest,
  recorded: RecordedEvent,
  isModern: boolean,
  { access, guards }: { access: Access; guards: ToolGuards },
): Promise<Entered> {
  const admitted = access.admit(call, asked);
  const guard = guards.of(call, asked, isModern);
  await recorded.start();
  if (guard === undefined) return { ...admitted, guard };
  const safe = await guard.before(asked, recorded);
  return { ...(safe === asked ? admitted : access.admit(call, safe)), guard };
}
