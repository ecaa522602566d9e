export interface FencedBlock {
  /** The first word after the opening fence, lower case; empty when there is none. */
  language: string;
  body: string;
}

/** Markdown's code blocks between lines of backticks. The last one may be cut off by the text's end. */
export function fencedBlocks(text: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { language: string; fence: string; from: number } | undefined;
  // Only lines that begin with a fence matter: others are not even cut out.
  fenceStart.lastIndex = 0;
  for (let found = fenceStart.exec(text); found !== null; found = fenceStart.exec(text)) {
    const lineEnd = text.indexOf('\n', fenceStart.lastIndex);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const fence = found[1] as string;
    const info = text.slice(fenceStart.lastIndex, end).trim();
    fenceStart.lastIndex = end;
    if (open === undefined) {
      // A line with further backticks is code within a line, not the start of a block.
      if (info.includes('`')) continue;
      open = {
        language: info.slice(0, infoMax).split(/\s/, 1)[0]?.toLowerCase() ?? '',
        fence,
        from: end + 1,
      };
    } else if (info === '' && fence.length >= open.fence.length) {
      blocks.push({
        language: open.language,
        body: text.slice(open.from, Math.max(open.from, found.index - 1)),
      });
      if (blocks.length >= blocksMax) return blocks;
      open = undefined;
    }
  }
  if (open !== undefined) blocks.push({ language: open.language, body: text.slice(open.from) });
  return blocks;
}

const fenceStart = /^[^\S\n]*(`{3,})/gm;
/** No language has a longer name. */
const infoMax = 100;
/** More blocks than an answer has; each may be parsed as JSON. */
const blocksMax = 1_000;
