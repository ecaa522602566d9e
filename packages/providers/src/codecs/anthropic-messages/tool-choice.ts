import type { ChatRequest } from '@sluice/contracts';
import type { ClaudeFacts } from '../../models/claude.ts';

/** Whether the caller demands that a tool is called. */
export function demandsCall({ toolChoice }: ChatRequest): boolean {
  return toolChoice?.type === 'required' || toolChoice?.type === 'tool';
}

/** Whether a Claude model may be told to call a tool, thinking as it is told to. */
export function mayDemandCall({ forcedTools }: ClaudeFacts, thinkingType: unknown): boolean {
  if (forcedTools === 'never') return false;
  return forcedTools === 'always' || thinkingType !== 'enabled';
}
