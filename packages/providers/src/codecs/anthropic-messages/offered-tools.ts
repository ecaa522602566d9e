import type { ChatRequest, ChatTool } from '@sluice/contracts';

/**
 * The tools a model is offered. Where signed thoughts belong to what was offered
 * before them, those that the caller keeps back for one turn are offered all the
 * same, and that is named: another list would spoil every thought behind it.
 */
export function offeredTools(
  { tools, allTools }: ChatRequest,
  bindsThoughts: boolean,
  dropped: string[],
): readonly ChatTool[] {
  if (!bindsThoughts || allTools === undefined) return tools ?? [];
  dropped.push('tool_choice.tools');
  return allTools;
}
