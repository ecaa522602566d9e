import { hash } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { ListedTool, ToolServer } from '../mcp/tool-caller.ts';

/** A tool of a server, as the model knows it. */
export interface OfferedTool {
  readonly server: ToolServer;
  /** What the caller calls the server. */
  readonly label: string;
  readonly listed: ListedTool;
  readonly functionName: string;
  readonly needsApproval: boolean;
}

/** A server of a request and what of it is wanted. */
export interface AskedServer {
  /** Where in the body, for errors. */
  readonly path: string;
  readonly label: string;
  readonly allows: (tool: ListedTool) => boolean;
  readonly needsApproval: (tool: ListedTool) => boolean;
}

/** What vendors take in one request. */
export const toolsMax = 128;
const nameLengthMax = 64;

/** The tools of all servers under names that no other tool of the request has. @throws GatewayError 400 where there are too many */
export function offeredTools(
  servers: readonly { asked: AskedServer; server: ToolServer; tools: readonly ListedTool[] }[],
  taken: ReadonlySet<string>,
): OfferedTool[] {
  const used = new Set(taken);
  const offered: OfferedTool[] = [];
  for (const { asked, server, tools } of servers)
    for (const listed of tools.filter(asked.allows)) {
      const { label } = asked;
      const plain = functionName(label, listed.name);
      const name = used.has(plain) ? hashedName(label, listed.name) : plain;
      used.add(name);
      const needsApproval = asked.needsApproval(listed);
      offered.push({ server, label, listed, functionName: name, needsApproval });
    }
  if (offered.length + taken.size > toolsMax)
    throw new GatewayError('request.invalid_field', {
      field: 'body.tools',
      message: `body.tools come to ${offered.length + taken.size} tools with those of their servers, and ${toolsMax} may be offered: name those that are needed in allowed_tools.`,
    });
  return offered;
}

/** The same for a tool in each request: what a model was told before stands in its history. */
export function functionName(label: string, tool: string): string {
  const plain = `mcp__${label}__${tool}`;
  return /^[\w-]+$/.test(plain) && plain.length <= nameLengthMax ? plain : hashedName(label, tool);
}

function hashedName(label: string, tool: string): string {
  const sum = hash('sha256', JSON.stringify([label, tool]), 'hex').slice(0, 8);
  const words = `mcp__${label}__${tool}`.replace(/[^\w-]+/g, '_');
  return `${words.slice(0, nameLengthMax - sum.length - 1)}_${sum}`;
}
