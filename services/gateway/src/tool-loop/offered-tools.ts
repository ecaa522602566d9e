import { hash } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { ListedTool, ToolServer } from '../mcp/tool-caller.ts';
import { mark } from './asked-servers.ts';

/** A tool of a server, as the model knows it. */
export interface OfferedTool {
  readonly server: ToolServer;
  /** What the caller calls the server. */
  readonly label: string;
  readonly listed: ListedTool;
  readonly functionName: string;
  readonly needsApproval: boolean;
}

/** A tool as a model calls it: one that was offered, or one that it believes a server of ours to have. */
export interface CalledTool {
  readonly functionName: string;
  readonly label: string;
  readonly toolName: string;
  /** Undefined = there is none. */
  readonly tool: OfferedTool | undefined;
  readonly needsApproval: boolean;
}

/** Tells calls of ours from those of the caller's tools. */
export function toolFinder(
  offered: readonly OfferedTool[],
  labels: ReadonlySet<string>,
  taken: ReadonlySet<string>,
): (name: string) => CalledTool | undefined {
  const known = new Map(
    offered.map((tool) => {
      const { functionName, label, listed, needsApproval } = tool;
      return [functionName, { functionName, label, toolName: listed.name, tool, needsApproval }];
    }),
  );
  return (name) => {
    const found = known.get(name);
    if (found !== undefined || taken.has(name)) return found;
    for (const label of labels) {
      const beginning = words(`mcp__${plainLabel(label)}__`);
      if (!name.startsWith(beginning)) continue;
      const toolName = name.slice(beginning.length);
      return { functionName: name, label, toolName, tool: undefined, needsApproval: false };
    }
    return undefined;
  };
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
  const plain = `mcp__${plainLabel(label)}__${tool}`;
  return /^[\w-]+$/.test(plain) && plain.length <= nameLengthMax ? plain : hashedName(label, tool);
}

function hashedName(label: string, tool: string): string {
  const sum = hash('sha256', JSON.stringify([label, tool]), 'hex').slice(0, 8);
  return `${words(`mcp__${plainLabel(label)}__${tool}`).slice(0, nameLengthMax - sum.length - 1)}_${sum}`;
}

/** The mark is of no use to a model. */
function plainLabel(label: string): string {
  return label.startsWith(mark) ? label.slice(mark.length) : label;
}

function words(text: string): string {
  return text.replace(/[^\w-]+/g, '_');
}
