import type { ChatRequest } from '@sluice/contracts';

/**
 * The request with a turn of the user's, for formats that refuse one of instructions
 * alone, which OpenAI answers: the last of them is the user's, then.
 */
export function askedByUser(request: ChatRequest): ChatRequest {
  const last = request.messages.at(-1);
  const isInstruction = ({ role }: { role: string }) => role === 'system' || role === 'developer';
  if (last === undefined || !request.messages.every(isInstruction)) return request;
  return { ...request, messages: [...request.messages.slice(0, -1), { ...last, role: 'user' }] };
}
