import { setTimeout as delay } from 'node:timers/promises';
import { isObject, type JsonObject } from '../protocol.ts';
import { RpcFault } from './envelope.ts';

export const serverInfo = { name: 'sluice-demo', title: 'Sluice demo server', version: '1.0.0' };
export const instructions =
  'Tools to try a gateway with: echo and add answer at once, slow reports progress, ask_model and ask_person ask you back.';
export const countUri = 'demo://count';

/** What a tool may do while it works; the same in both eras. */
export interface Call {
  /** Aborts when the caller cancels. */
  readonly signal: AbortSignal;
  progress(progress: number, total: number, message: string): void;
  log(level: 'debug' | 'info', data: string): void;
  /**
   * The client's answer to a request of ours. Where the server may not ask, the call ends here and is made again
   * with the answer, so nothing before it may have an effect.
   * @throws RpcFault when the client has not said that it can.
   */
  ask(capability: 'sampling' | 'elicitation', method: string, params: JsonObject): Promise<unknown>;
  /** Counts one and tells who subscribed. @returns the new count. */
  count(): number;
}

interface Tool {
  definition: JsonObject & { name: string };
  run(args: JsonObject, call: Call): Promise<JsonObject> | JsonObject;
}

const secondsMax = 600;

const tools: readonly Tool[] = [
  {
    definition: {
      name: 'echo',
      title: 'Echo',
      description: 'Answers with the text that it is given.',
      inputSchema: objectSchema({ text: { type: 'string' } }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    run: (args) => text(textOf(args, 'text')),
  },
  {
    definition: {
      name: 'add',
      title: 'Add',
      description: 'Adds two numbers.',
      inputSchema: objectSchema({ a: { type: 'number' }, b: { type: 'number' } }),
      outputSchema: objectSchema({ sum: { type: 'number' } }),
      annotations: { readOnlyHint: true, idempotentHint: true },
    },
    run(args) {
      const sum = numberOf(args, 'a') + numberOf(args, 'b');
      return { ...text(String(sum)), structuredContent: { sum } };
    },
  },
  {
    definition: {
      name: 'slow',
      title: 'Slow',
      description: 'Works for some seconds in steps and reports progress after each.',
      inputSchema: objectSchema(
        {
          seconds: { type: 'number', minimum: 0, maximum: secondsMax },
          steps: { type: 'integer' },
        },
        [],
      ),
      annotations: { readOnlyHint: true },
    },
    async run(args, call) {
      const seconds = Math.min(Math.max(0, numberOf(args, 'seconds', 2)), secondsMax);
      const steps = Math.min(Math.max(1, Math.trunc(numberOf(args, 'steps', 4))), 1000);
      for (let step = 1; step <= steps; step++) {
        await delay((seconds * 1000) / steps, undefined, { signal: call.signal });
        call.progress(step, steps, `Step ${step} of ${steps}`);
        call.log('info', `step ${step}`);
      }
      return text(`Done in ${steps} steps.`);
    },
  },
  {
    definition: {
      name: 'count',
      title: 'Count',
      description: `Counts one more. Who subscribes to ${countUri} is told.`,
      inputSchema: objectSchema({}),
    },
    run: (_args, call) => text(String(call.count())),
  },
  {
    definition: {
      name: 'ask_model',
      title: 'Ask the model',
      description: "Asks the client's model a question (sampling) and answers with what it said.",
      inputSchema: objectSchema({ question: { type: 'string' } }),
    },
    async run(args, call) {
      const answer = await call.ask('sampling', 'sampling/createMessage', {
        messages: [{ role: 'user', content: { type: 'text', text: textOf(args, 'question') } }],
        maxTokens: 200,
      });
      const content = isObject(answer) ? answer.content : undefined;
      const first = Array.isArray(content) ? content[0] : content;
      return text(`The model said: ${isObject(first) ? String(first.text) : 'nothing'}`);
    },
  },
  {
    definition: {
      name: 'ask_person',
      title: 'Ask the person',
      description: 'Asks the person at the client for a name (elicitation) and greets them.',
      inputSchema: objectSchema({}),
    },
    async run(_args, call) {
      const answer = await call.ask('elicitation', 'elicitation/create', {
        mode: 'form',
        message: 'What is your name?',
        requestedSchema: objectSchema({ name: { type: 'string' } }),
      });
      if (!isObject(answer) || answer.action !== 'accept') return text('Hello, whoever you are.');
      return text(`Hello, ${isObject(answer.content) ? String(answer.content.name) : 'you'}.`);
    },
  },
];

const toolOf = new Map(tools.map((tool) => [tool.definition.name, tool]));
const guide = 'This server belongs to a fresh installation of Sluice. Nothing here costs anything.';

export const capabilities = {
  tools: {},
  prompts: {},
  resources: { subscribe: true },
  completions: {},
};

/** What every list and every read answers. @throws RpcFault for what does not exist. */
export const lists: Readonly<Record<string, (params: JsonObject, count: number) => JsonObject>> = {
  'tools/list': () => ({ tools: tools.map((tool) => tool.definition) }),
  'prompts/list': () => ({
    prompts: [
      {
        name: 'greet',
        title: 'Greet',
        description: 'A greeting in a language.',
        arguments: [{ name: 'language', description: 'In which language', required: true }],
      },
    ],
  }),
  'resources/list': () => ({
    resources: [
      { uri: 'demo://guide', name: 'guide', title: 'Guide', mimeType: 'text/plain' },
      { uri: countUri, name: 'count', title: 'How often count was called', mimeType: 'text/plain' },
    ],
  }),
  'resources/templates/list': () => ({
    resourceTemplates: [
      { uriTemplate: 'demo://squares/{number}', name: 'square', mimeType: 'text/plain' },
    ],
  }),
  'resources/read': (params, count) => {
    const { uri } = params;
    const [, number] = /^demo:\/\/squares\/(\d{1,6})$/.exec(String(uri)) ?? [];
    const content =
      number !== undefined
        ? String(Number(number) ** 2)
        : { 'demo://guide': guide, [countUri]: String(count) }[String(uri)];
    if (content === undefined) throw new RpcFault(-32602, 'Resource not found', { data: { uri } });
    return { contents: [{ uri, mimeType: 'text/plain', text: content }] };
  },
};

const languages = ['Dutch', 'English', 'French', 'German', 'Spanish'];

/** @throws RpcFault for what does not exist. */
export const gets: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
  'prompts/get'(params) {
    if (params.name !== 'greet')
      throw new RpcFault(-32602, `Unknown prompt: ${String(params.name)}`);
    const args = isObject(params.arguments) ? params.arguments : {};
    const request = `Greet me in ${textOf(args, 'language')}.`;
    return {
      description: 'A greeting in a language.',
      messages: [{ role: 'user', content: { type: 'text', text: request } }],
    };
  },
  'completion/complete'(params) {
    const argument = isObject(params.argument) ? params.argument : {};
    const start = String(argument.value ?? '').toLowerCase();
    const values =
      argument.name === 'language'
        ? languages.filter((language) => language.toLowerCase().startsWith(start))
        : [];
    return { completion: { values, total: values.length, hasMore: false } };
  },
};

/** A failure of the tool is a result with `isError`. @throws RpcFault when there is no such tool. */
export async function callTool(params: JsonObject, call: Call): Promise<JsonObject> {
  const tool = toolOf.get(String(params.name));
  if (tool === undefined) throw new RpcFault(-32602, `Unknown tool: ${String(params.name)}`);
  try {
    return await tool.run(isObject(params.arguments) ? params.arguments : {}, call);
  } catch (error) {
    if (error instanceof ArgumentFault) return { ...text(error.message), isError: true };
    throw error;
  }
}

class ArgumentFault extends Error {}

function textOf(args: JsonObject, name: string): string {
  const value = args[name];
  if (typeof value !== 'string') throw new ArgumentFault(`The argument ${name} must be a text.`);
  return value;
}

function numberOf(args: JsonObject, name: string, otherwise?: number): number {
  const value = args[name] ?? otherwise;
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw new ArgumentFault(`The argument ${name} must be a number.`);
  return value;
}

function text(value: string): JsonObject {
  return { content: [{ type: 'text', text: value }] };
}

function objectSchema(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: 'object', properties, required };
}
