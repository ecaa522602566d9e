export interface FencedBlock {
  /** The first word after the opening fence, lower case; empty when there is none. */
  language: string;
  body: string;
}

/** Markdown's code blocks between lines of backticks. The last one may be cut off by the text's end. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { language: string; fence: string; lines: string[] } | undefined;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    const fence = /^`{3,}/.exec(trimmed)?.[0];
    if (open === undefined) {
      const info = fence === undefined ? '`' : trimmed.slice(fence.length);
      // A line with further backticks is code within a line, not the start of a block.
      if (fence === undefined || info.includes('`')) continue;
      open = { language: info.trim().split(/\s/, 1)[0]?.toLowerCase() ?? '', fence, lines: [] };
    } else if (fence !== undefined && fence.length >= open.fence.length && fence === trimmed) {
      blocks.push({ language: open.language, body: open.lines.join('\n') });
      open = undefined;
    } else {
      open.lines.push(line);
    }
  }
  if (open !== undefined) blocks.push({ language: open.language, body: open.lines.join('\n') });
  return blocks;
}
