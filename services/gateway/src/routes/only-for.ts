import type { RequestListener } from 'node:http';
import { readMcpPath, rootSegment } from '@sluice/contracts';
import { requestTarget } from '../http/request-target.ts';

/** What of the gateway is answered: `mcp` = MCP servers and what belongs to them, `llm` = all else. */
export type ServerMode = 'all' | 'mcp' | 'llm';

const ofMcp: ReadonlySet<string> = new Set([
  rootSegment.registry,
  rootSegment.oauth,
  rootSegment.wellKnown,
]);

/** Requests that are answered whatever this gateway is for, as probes are, or are of what it is for; `refuse` answers the others. */
export function onlyFor(
  mode: ServerMode,
  answer: RequestListener,
  refuse: RequestListener,
): RequestListener {
  if (mode === 'all') return answer;
  return (req, res) => {
    const url = req.url ?? '';
    const isWanted = isProbe(url) || isOfMcp(url) === (mode === 'mcp');
    return isWanted ? answer(req, res) : refuse(req, res);
  };
}

function isOfMcp(url: string): boolean {
  const [first = '', second = ''] = segmentsOf(url);
  // The registry stands below `/v1` as well.
  if (first === rootSegment.api && second === rootSegment.registry) return true;
  return readMcpPath(pathOf(url)) !== undefined || ofMcp.has(first);
}

function isProbe(url: string): boolean {
  const [first, second] = segmentsOf(url);
  return (
    first === rootSegment.health || (first === rootSegment.api && second === rootSegment.health)
  );
}

function segmentsOf(url: string): readonly string[] {
  return pathOf(url).slice(1).split('/', 2);
}

function pathOf(url: string): string {
  return requestTarget(url).split('?', 1)[0] ?? '';
}
