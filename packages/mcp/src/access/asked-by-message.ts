import type { JsonObject } from '@sluice/contracts';
import { isObject, type McpRequest } from '../envelope/read-message.ts';
import { McpFault, rpcCodes } from '../fault.ts';
import type { Asked, Decision, DenyReason } from './decide.ts';
import { type CapabilityType, type ServerView, upstreamName } from './server-view.ts';

/**
 * What of a server a request is about; undefined = it is about none of its capabilities (`tools/list`, `ping`).
 * @param hashOf of a definition as the upstream was last seen to have it
 * @throws McpFault −32602 where it does not say what it is about
 */
export function askedBy(
  view: ServerView,
  message: McpRequest,
  hashOf: (type: CapabilityType, name: string) => string | undefined,
): Asked | undefined {
  const type = typeOf(view, message);
  if (type === undefined) return undefined;
  const { subject, params, idText, method } = message;
  if (subject === undefined)
    throw new McpFault({
      status: 200,
      code: rpcCodes.invalidParams,
      message: `params of ${method} must say what it is about.`,
      idText,
    });
  const args = params?.arguments;
  if (args !== undefined && method !== 'completion/complete' && !isObject(args))
    throw new McpFault({
      status: 200,
      code: rpcCodes.invalidParams,
      message: 'params.arguments must be an object.',
      idText,
    });
  const name = upstreamName(view, type, subject);
  return {
    type,
    name,
    arguments: isObject(args) ? args : {},
    hash: name === undefined ? undefined : hashOf(type, name),
    ...(type === 'resource' && {
      hashOfTemplate: (uriTemplate: string) => hashOf('resource_template', uriTemplate),
    }),
  };
}

function typeOf(
  view: ServerView,
  { method, params, subject }: McpRequest,
): CapabilityType | undefined {
  switch (method) {
    case 'tools/call':
      return 'tool';
    case 'prompts/get':
      return 'prompt';
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return 'resource';
    case 'completion/complete': {
      const ref = params?.ref as JsonObject | undefined;
      if (ref?.type === 'ref/prompt') return 'prompt';
      // A URI may be one of a resource, too.
      const isTemplate =
        subject === undefined || view.rows.resource_template.has(subject) || subject.includes('{');
      return isTemplate ? 'resource_template' : 'resource';
    }
    default:
      return undefined;
  }
}

const words: Readonly<Record<CapabilityType, string>> = {
  tool: 'Tool',
  prompt: 'Prompt',
  resource: 'Resource',
  resource_template: 'Resource template',
};

const aboutServer: ReadonlySet<DenyReason> = new Set(['server_disabled', 'user_denied']);

/** What the caller is told of a denial. @param name as the caller called it */
export function refusalOf(
  { rules }: ServerView,
  { reason }: Extract<Decision, { allowed: false }>,
  { type, name, idText }: { type: CapabilityType; name: string; idText: string },
): McpFault {
  if (aboutServer.has(reason))
    return new McpFault({
      status: 403,
      code: rpcCodes.refused,
      message:
        reason === 'server_disabled'
          ? 'This MCP server is switched off.'
          : 'You have no access to this MCP server.',
      idText,
    });
  const isUnknown = rules.deniedAs === 'unknown' || reason === 'no_such_name';
  const message = isUnknown
    ? `${words[type]} ${shown(name)} not found`
    : `${words[type]} ${shown(name)} is disabled`;
  return new McpFault({
    status: 200,
    code: rpcCodes.invalidParams,
    message,
    data: isUnknown ? undefined : { reason },
    idText,
  });
}

function shown(name: string): string {
  return `'${name.length > 128 ? `${name.slice(0, 128)}…` : name}'`;
}
