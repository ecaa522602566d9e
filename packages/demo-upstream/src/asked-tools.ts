/**
 * The tools that the demo model calls: all of them when the prompt says "parallel", else the one that
 * the prompt names, the longest name first, else the first, as a model asked a simple question would.
 */
export function askedTools<Tool>(
  tools: readonly Tool[],
  nameOf: (tool: Tool) => string,
  prompt: string,
  mayBeSeveral: boolean,
): Tool[] {
  if (mayBeSeveral && /\bparallel\b/i.test(prompt)) return [...tools];
  const named = tools
    .filter((tool) => prompt.includes(nameOf(tool)))
    .sort((one, other) => nameOf(other).length - nameOf(one).length);
  return [...named, ...tools].slice(0, 1);
}
