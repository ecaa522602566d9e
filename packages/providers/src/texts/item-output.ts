/**
 * The member of an item of the Responses API in which stands what a tool, or a program that called tools, returned;
 * undefined = the item is of another kind. openai 7.59 (`ResponseInputItem`), November 2026
 */
export function outputMember(type: unknown): 'output' | 'result' | undefined {
  if (type === 'program_output') return 'result';
  return typeof type === 'string' && type.endsWith('_output') ? 'output' : undefined;
}
