/**
 * What of a request or an answer a check of texts looks at.
 *
 * - `last_message`: what is asked now, and the first choice of an answer: as published, and the default
 * - `conversation`: the texts of every message of users and assistants, and of every choice
 * - `system`: system prompts and instructions
 * - `tool_calls`: what models call tools with
 * - `tool_results`: what tools answered
 * - `tools`: how the tools of a request are described
 * - `all`: every text of the body, wherever it stands
 */
export const checkSubjects = [
  'last_message',
  'conversation',
  'system',
  'tool_calls',
  'tool_results',
  'tools',
  'all',
] as const;

export type CheckSubject = (typeof checkSubjects)[number];
