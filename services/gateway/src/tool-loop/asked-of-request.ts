import type { JsonObject, JsonValue, PublicAddresses } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { isObject } from '@sluice/mcp';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { ListedTool } from '../mcp/tool-caller.ts';
import { isOwnWay, type MeantServer, meantServer, type SaidOfServer } from './asked-servers.ts';
import type { AskedServer } from './offered-tools.ts';

/** What of a request's tools is for the gateway to run. */
export interface AskedOfRequest {
  readonly servers: readonly (AskedServer & { readonly meant: MeantServer })[];
  /** The rest, as it came. */
  readonly otherTools: readonly JsonValue[];
  readonly otherServers: readonly JsonValue[];
  /** Of toolsets, by the name of their server. */
  readonly cacheMarks: ReadonlyMap<string, JsonValue>;
  /** Names that tools of the caller have. */
  readonly taken: ReadonlySet<string>;
}

/** Whether a request could ask anything of us: a look at what nearly none has. */
export function mayAsk({ subject }: ModelExchange): boolean {
  const { json, operation } = subject;
  if (operation.id === 'createModelResponse')
    return (
      Array.isArray(json?.tools) && json.tools.some((tool) => isObject(tool) && tool.type === 'mcp')
    );
  return (
    operation.id === 'messages' && Array.isArray(json?.mcp_servers) && json.mcp_servers.length > 0
  );
}

/** Undefined = nothing. @throws GatewayError 400 for what cannot be read */
export function askedOfRequest(
  exchange: ModelExchange,
  addresses: PublicAddresses,
): AskedOfRequest | undefined {
  if (!mayAsk(exchange)) return undefined;
  const json = exchange.subject.json ?? {};
  const asked =
    exchange.subject.operation.id === 'messages'
      ? ofMessages(json, exchange, addresses)
      : ofResponses(json, exchange, addresses);
  if (asked.servers.length === 0) return undefined;
  const labels = new Set<string>();
  for (const { label, path } of asked.servers) {
    if (labels.has(label)) throw invalid(path, `names "${label}", which another has named`);
    labels.add(label);
  }
  if (json.background === true)
    throw invalid('background', 'must be false where the gateway runs tools');
  return asked;
}

function ofResponses(
  json: JsonObject,
  exchange: ModelExchange,
  addresses: PublicAddresses,
): AskedOfRequest {
  const servers: AskedOfRequest['servers'][number][] = [];
  const otherTools: JsonValue[] = [];
  for (const [index, tool] of (json.tools as JsonValue[]).entries()) {
    const path = `tools[${index}]`;
    const said = isObject(tool) && tool.type === 'mcp' ? saidByTool(tool) : undefined;
    const meant = said && meantServer(said, exchange, addresses);
    if (said === undefined || meant === undefined || !isObject(tool)) {
      otherTools.push(tool);
      continue;
    }
    const { server_label: label } = tool;
    if (typeof label !== 'string' || label === '' || label.length > labelLengthMax)
      throw invalid(`${path}.server_label`, `must be a text of 1 to ${labelLengthMax} characters`);
    servers.push({
      path,
      label,
      meant,
      allows: filterOf(tool.allowed_tools, `${path}.allowed_tools`) ?? (() => true),
      needsApproval: approvalOf(
        tool.require_approval,
        `${path}.require_approval`,
        isOwnWay(said, exchange),
      ),
    });
  }
  return {
    servers,
    otherTools,
    otherServers: [],
    cacheMarks: new Map(),
    taken: namesOf(otherTools),
  };
}

function saidByTool(tool: JsonObject): SaidOfServer {
  const { server_label: name, server_url: url, authorization, headers } = tool;
  return {
    name: stringOf(name),
    url: stringOf(url),
    credential: stringOf(authorization),
    hasHeaders: isObject(headers) && Object.keys(headers).length > 0,
    isVendors: tool.connector_id != null || tool.tunnel_id != null,
  };
}

function ofMessages(
  json: JsonObject,
  exchange: ModelExchange,
  addresses: PublicAddresses,
): AskedOfRequest {
  const tools = Array.isArray(json.tools) ? json.tools : [];
  const servers: AskedOfRequest['servers'][number][] = [];
  const otherServers: JsonValue[] = [];
  const cacheMarks = new Map<string, JsonValue>();
  const ours = new Set<string>();
  for (const [index, server] of (json.mcp_servers as JsonValue[]).entries()) {
    const path = `mcp_servers[${index}]`;
    const said = isObject(server) ? saidByServer(server) : undefined;
    const meant = said && meantServer(said, exchange, addresses);
    if (said === undefined || meant === undefined || !isObject(server)) {
      otherServers.push(server);
      continue;
    }
    const { name: label } = said;
    if (label === undefined || label === '' || label.length > labelLengthMax)
      throw invalid(`${path}.name`, `must be a text of 1 to ${labelLengthMax} characters`);
    const toolset = tools.find(
      (tool): tool is JsonObject => isObject(tool) && isToolsetOf(tool, label),
    );
    if (toolset?.cache_control != null) cacheMarks.set(label, toolset.cache_control);
    ours.add(label);
    servers.push({
      path,
      label,
      meant,
      allows: toolset === undefined ? configured(server.tool_configuration) : enabled(toolset),
      // Nobody is asked in this format.
      needsApproval: () => false,
    });
  }
  const otherTools = tools.filter(
    (tool) =>
      !(isObject(tool) && tool.type === 'mcp_toolset' && ours.has(String(tool.mcp_server_name))),
  );
  return { servers, otherTools, otherServers, cacheMarks, taken: namesOf(otherTools) };
}

function saidByServer({ name, url, authorization_token: token }: JsonObject): SaidOfServer {
  return {
    name: stringOf(name),
    url: stringOf(url),
    credential: stringOf(token),
    hasHeaders: false,
    isVendors: false,
  };
}

function isToolsetOf(tool: JsonObject, label: string): boolean {
  return tool.type === 'mcp_toolset' && tool.mcp_server_name === label;
}

/** As `mcp-client-2025-11-20` has it. */
function enabled({ default_config: usual, configs }: JsonObject): (tool: ListedTool) => boolean {
  const isUsual = !isObject(usual) || usual.enabled !== false;
  return ({ name }) => {
    const own = isObject(configs) && Object.hasOwn(configs, name) ? configs[name] : undefined;
    return isObject(own) && typeof own.enabled === 'boolean' ? own.enabled : isUsual;
  };
}

/** As `mcp-client-2025-04-04` had it. */
function configured(rule: JsonValue | undefined): (tool: ListedTool) => boolean {
  if (!isObject(rule)) return () => true;
  const { enabled: isOn, allowed_tools: names } = rule;
  return ({ name }) => isOn !== false && (!Array.isArray(names) || names.includes(name));
}

/** Undefined = nothing is said. */
function filterOf(
  rule: JsonValue | undefined,
  path: string,
): ((tool: ListedTool) => boolean) | undefined {
  if (rule == null) return undefined;
  if (Array.isArray(rule)) return ({ name }) => rule.includes(name);
  if (!isObject(rule)) throw invalid(path, 'must be a list of names or a filter');
  const { tool_names: names, read_only: readOnly } = rule;
  return ({ name, annotations }) =>
    (!Array.isArray(names) || names.includes(name)) &&
    (typeof readOnly !== 'boolean' || (annotations?.readOnlyHint === true) === readOnly);
}

/** Nothing said means `always` at the vendor, and with the gateway's own flag and names that nobody is asked. */
function approvalOf(
  rule: JsonValue | undefined,
  path: string,
  isOwn: boolean,
): (tool: ListedTool) => boolean {
  if (rule == null) return () => !isOwn;
  if (rule === 'always' || rule === 'never') return () => rule === 'always';
  if (!isObject(rule)) throw invalid(path, 'must be always, never or a filter');
  const always = filterOf(rule.always, `${path}.always`);
  const never = filterOf(rule.never, `${path}.never`);
  // What neither names is asked about.
  return (tool) => always?.(tool) === true || never?.(tool) !== true;
}

function namesOf(tools: readonly JsonValue[]): Set<string> {
  return new Set(
    tools.flatMap((tool) => (isObject(tool) && typeof tool.name === 'string' ? [tool.name] : [])),
  );
}

const labelLengthMax = 255;

function stringOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function invalid(path: string, what: string): GatewayError {
  const field = `body.${path}`;
  return new GatewayError('request.invalid_field', { field, message: `${field} ${what}.` });
}
