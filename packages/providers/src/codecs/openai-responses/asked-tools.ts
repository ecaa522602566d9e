/**
 * The tools of a request that the caller runs. Those that are no functions
 * (`custom`, `local_shell`, `shell`, `apply_patch`) and those of a namespace
 * are plain functions to a provider of another format; by the function's name
 * is found again what the caller asked for, so that a call is answered in the
 * item that belongs to its tool (`tool-items.ts`).
 */
import type { FunctionTool, JsonObject, JsonValue } from '@sluice/contracts';
import { runsAtCaller } from '../../bills/charged-tools.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { customFunction } from '../custom-tools.ts';
import { toolsInRequest } from './tools-in-request.ts';

export type ToolKind = 'function' | 'custom' | BuiltInKind;
type BuiltInKind = 'local_shell' | 'shell' | 'apply_patch';

export interface AskedTool {
  kind: ToolKind;
  /** As the caller knows it. */
  name: string;
  namespace?: string;
}

const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer' };

/** What these tools are as functions: their parameters are the fields of their calls. */
const builtIn: Readonly<
  Record<BuiltInKind, { readonly description: string; readonly parameters: JsonObject }>
> = {
  local_shell: {
    description: 'Runs a command on the computer of the user, and returns what it wrote.',
    parameters: object(
      {
        command: { type: 'array', items: text, description: 'The program and its arguments.' },
        working_directory: text,
        timeout_ms: count,
        env: { type: 'object', additionalProperties: text },
      },
      ['command'],
    ),
  },
  shell: {
    description: 'Runs shell commands on the computer of the user, and returns what they wrote.',
    parameters: object(
      {
        commands: { type: 'array', items: text, description: 'Each a line for the shell.' },
        timeout_ms: count,
        max_output_length: count,
      },
      ['commands'],
    ),
  },
  apply_patch: {
    description:
      'Creates, changes or deletes one file. The diff is in the V4A format: lines begin with a blank, + or -, and sections with @@. A file to create has + lines only; one to delete needs no diff.',
    parameters: object(
      {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text,
        diff: text,
      },
      ['type', 'path'],
    ),
  },
};

function object(properties: JsonObject, required: string[]): JsonObject {
  return { type: 'object', properties, required, additionalProperties: false };
}

export function isBuiltIn(type: JsonValue | undefined): type is BuiltInKind {
  return typeof type === 'string' && Object.hasOwn(builtIn, type);
}

/** @param tool  as the caller wrote it: a shell may have skills, which the model reads where they lie */
export function builtInFunction(kind: BuiltInKind, tool: JsonObject, path: string): FunctionTool {
  const { description, parameters } = builtIn[kind];
  const skills = (arrayOf(objectOf(tool.environment)?.skills) ?? []).map((value) => {
    const { name, path: folder, description: about } = objectOf(value) ?? {};
    return `${stringOf(name)} (${stringOf(folder)}): ${stringOf(about)}`;
  });
  const told = skills.length === 0 ? [] : [skillsAreRead, ...skills];
  const whole = [description, ...told].join('\n');
  return { type: 'function', name: kind, path, description: whole, parameters };
}

const skillsAreRead =
  'Skills, each with what it is for. Before one is used, the file SKILL.md in its folder is read:';

export function customTool(tool: JsonObject, name: string, path: string): FunctionTool {
  const description = stringOf(tool.description);
  const format = objectOf(tool.format);
  return customFunction({ name, description, format, path, formatPath: `${path}.format` });
}

/** The name of a function of a namespace, where there are no namespaces. */
export function nameIn(namespace: string | undefined, name: string): string {
  if (namespace === undefined) return name;
  return namespace.endsWith('_') ? `${namespace}${name}` : `${namespace}__${name}`;
}

const none: ReadonlyMap<string, AskedTool> = new Map();

/** By the names that providers of other formats know, only those that are more than functions. */
export function askedTools(request: JsonObject): ReadonlyMap<string, AskedTool> {
  const tools = toolsInRequest(request);
  if (tools?.some(({ tool }) => objectOf(tool)?.type !== 'function') !== true) return none;
  const asked = new Map<string, AskedTool>();
  for (const { tool } of tools) add(objectOf(tool) ?? {}, undefined, asked);
  return asked;
}

function add(tool: JsonObject, namespace: string | undefined, asked: Map<string, AskedTool>): void {
  const { type } = tool;
  const name = stringOf(tool.name);
  if (isBuiltIn(type)) {
    if (runsAtCaller(tool)) asked.set(type, { kind: type, name: type });
  } else if (name !== undefined && type === 'namespace')
    for (const inner of arrayOf(tool.tools) ?? []) add(objectOf(inner) ?? {}, name, asked);
  else if (name !== undefined && (type === 'custom' || namespace !== undefined)) {
    const kind = type === 'custom' ? 'custom' : 'function';
    asked.set(nameIn(namespace, name), { kind, name, ...(namespace && { namespace }) });
  }
}
