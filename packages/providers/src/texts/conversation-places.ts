import type { CheckedFormat, JsonObject, JsonValue } from '@sluice/contracts';
import { isToolChange } from '../codecs/anthropic-messages/conversation-changes.ts';
import { bringsTools } from '../codecs/openai-responses/tools-in-request.ts';
import { arrayOf, objectOf } from '../json/json-access.ts';
import { textsWithin } from './all-texts.ts';
import { outputMember } from './item-output.ts';
import { type Path, type Place, pathTo } from './places.ts';

/** Where texts stand in requests and replies of the formats that hooks read. */
interface PlacesOf {
  request(request: JsonObject): Place[];
  reply(reply: JsonObject): Place[];
}

type Subject = Place['subject'];

export const conversationPlaces: Readonly<Record<CheckedFormat, PlacesOf>> = {
  'openai-chat': {
    request: (request) => [...messagePlaces(request), ...toolPlaces(request)],
    reply: (reply) =>
      (arrayOf(reply.choices) ?? []).flatMap((choice, index) => {
        const message = objectOf(objectOf(choice)?.message) ?? {};
        return saidPlaces(message, pathTo(undefined, 'choices', index, 'message'), index === 0);
      }),
  },
  'openai-completions': {
    request: (request) => [
      ...within(request.prompt, 'conversation', true, pathTo(undefined, 'prompt')),
      ...within(request.suffix, 'conversation', false, pathTo(undefined, 'suffix')),
    ],
    reply: (reply) =>
      (arrayOf(reply.choices) ?? []).flatMap((choice, index) =>
        within(
          objectOf(choice)?.text,
          'conversation',
          index === 0,
          pathTo(undefined, 'choices', index, 'text'),
        ),
      ),
  },
  'openai-embeddings': {
    request: (request) => within(request.input, 'conversation', true, pathTo(undefined, 'input')),
    reply: () => [],
  },
  'openai-responses': {
    request: (request) => [
      ...within(request.instructions, 'system', false, pathTo(undefined, 'instructions')),
      ...itemPlaces(request.input, 'input', (index, count) => index === count - 1),
      ...toolPlaces(request),
    ],
    reply: (reply) => itemPlaces(reply.output, 'output', () => true),
  },
  'anthropic-messages': {
    request: (request) => [
      ...contentPlaces(request.system, 'system', false, pathTo(undefined, 'system')),
      ...messagePlaces(request),
      ...toolPlaces(request),
    ],
    reply: (reply) =>
      contentPlaces(reply.content, 'conversation', true, pathTo(undefined, 'content')),
  },
};

function messagePlaces(request: JsonObject): Place[] {
  const messages = arrayOf(request.messages) ?? [];
  return messages.flatMap((value, index) => {
    const message = objectOf(value) ?? {};
    return saidPlaces(message, pathTo(undefined, 'messages', index), index === messages.length - 1);
  });
}

/** A message: what it says, and the tools that it calls. */
function saidPlaces(message: JsonObject, path: Path, isLast: boolean): Place[] {
  const places = contentPlaces(
    message.content,
    subjectOf(message.role),
    isLast,
    pathTo(path, 'content'),
  );
  for (const [index, value] of (arrayOf(message.tool_calls) ?? []).entries()) {
    const call = objectOf(value) ?? {};
    for (const kind of ['function', 'custom'] as const) {
      const field = kind === 'function' ? 'arguments' : 'input';
      const said = objectOf(call[kind])?.[field];
      places.push(
        ...within(said, 'tool_calls', false, pathTo(path, 'tool_calls', index, kind, field)),
      );
    }
  }
  const { function_call: called, refusal } = message;
  places.push(
    ...within(
      objectOf(called)?.arguments,
      'tool_calls',
      false,
      pathTo(path, 'function_call', 'arguments'),
    ),
    ...within(refusal, 'conversation', false, pathTo(path, 'refusal')),
  );
  return places;
}

function subjectOf(role: JsonValue | undefined): Subject {
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'tool' || role === 'function' ? 'tool_results' : 'conversation';
}

/** A text, or blocks of which some are calls of tools, or what tools said. */
function contentPlaces(
  content: JsonValue | undefined,
  subject: Subject,
  isLast: boolean,
  path: Path,
): Place[] {
  const blocks = arrayOf(content);
  if (blocks === undefined) return within(content, subject, isLast, path);
  // A message of nothing but results is what other formats have as messages of tools.
  const isOfTools = blocks.every((value) => isToolResult(objectOf(value)));
  return blocks.flatMap((value, index) => {
    const here = pathTo(path, index);
    const block = objectOf(value);
    if (block === undefined) return within(value, subject, isLast, here);
    const { type } = block;
    if (/^(?:input_|output_)?text$/.test(String(type)))
      return within(block.text, subject, isLast, pathTo(here, 'text'));
    if (/tool_use$/.test(String(type)))
      return within(block.input, 'tool_calls', false, pathTo(here, 'input'));
    if (isToolChange(block))
      return within(block.tool, 'tools', false, pathTo(here, 'tool')).filter(isSaid);
    if (type === 'compaction') return compactionPlaces(block, subject, here);
    if (isToolResult(block)) {
      const at = pathTo(here, 'content');
      return contentPlaces(block.content, 'tool_results', isLast && isOfTools, at);
    }
    // Documents, search results and what is still to come: not what is said, but read.
    return within(block, subject, false, here).filter(isSaid);
  });
}

function isToolResult(block: JsonObject | undefined): boolean {
  return /tool_result$/.test(String(block?.type));
}

/** What was said before, in short, and the tools that came and went meanwhile. */
function compactionPlaces(block: JsonObject, subject: Subject, path: Path): Place[] {
  const { tool_changes: changes, ...rest } = block;
  return [
    ...within(rest, subject, false, path),
    ...within(changes, 'tools', false, pathTo(path, 'tool_changes')),
  ].filter(isSaid);
}

/** Of items that are named otherwise than what they are: what is said in which member. */
const saidInItems: ReadonlyMap<string, readonly [member: string, Subject]> = new Map([
  ['program', ['code', 'tool_calls']],
  ['mcp_approval_request', ['arguments', 'tool_calls']],
  ['mcp_approval_response', ['reason', 'conversation']],
]);

/** Items of the Responses API. */
function itemPlaces(
  items: JsonValue | undefined,
  field: 'input' | 'output',
  isLastOf: (index: number, count: number) => boolean,
): Place[] {
  const root = pathTo(undefined, field);
  const list = arrayOf(items);
  if (list === undefined) return within(items, 'conversation', true, root);
  return list.flatMap((value, index) => {
    const path = pathTo(root, index);
    const item = objectOf(value);
    const isLast = isLastOf(index, list.length);
    if (item === undefined) return within(value, 'conversation', isLast, path);
    const type = String(item.type ?? 'message');
    if (bringsTools(item) || type === 'mcp_list_tools')
      return within(item.tools, 'tools', false, pathTo(path, 'tools')).filter(isSaid);
    if (type === 'message')
      return contentPlaces(item.content, subjectOf(item.role), isLast, pathTo(path, 'content'));
    const output = outputMember(type);
    if (output !== undefined)
      return contentPlaces(item[output], 'tool_results', isLast, pathTo(path, output));
    const said = saidInItems.get(type);
    if (said !== undefined) {
      const [member, subject] = said;
      return within(item[member], subject, false, pathTo(path, member));
    }
    if (/_call$/.test(type))
      return within(item, 'tool_calls', false, path).filter(
        (place) => place.path.parent !== path || isSaid(place),
      );
    return [];
  });
}

/** What a model is told of the tools it may call. */
function toolPlaces(request: JsonObject): Place[] {
  return (['tools', 'functions'] as const).flatMap((field) =>
    within(request[field], 'tools', false, pathTo(undefined, field)).filter(isSaid),
  );
}

const labels: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'status', 'name']);

/** Not a member that says what something is, and nothing to a model. */
function isSaid({ path: { step } }: Place): boolean {
  return !(typeof step === 'string' && labels.has(step));
}

function within(
  value: JsonValue | undefined,
  subject: Subject,
  isLast: boolean,
  path: Path,
): Place[] {
  if (value === undefined || value === null) return [];
  const isOfTool = subject === 'tool_calls' || subject === 'tool_results';
  return textsWithin(value, path, isOfTool).map((found) => ({ ...found, subject, isLast }));
}
