import { setTimeout as delay } from 'node:timers/promises';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';

/**
 * Everything that the server suites of `@modelcontextprotocol/conformance` ask
 * a server for, under the names that they ask for it.
 */

export interface FixtureHooks {
  /** To who listens, in the newer era. */
  toolsChanged(): void;
  promptsChanged(): void;
  /** Ends the stream of a request of the older era before its answer. */
  closeStream(sessionId: string | undefined, requestId: string | number): void;
}

type Json = Record<string, unknown>;
type Run = (args: Json, context: ServerContext) => unknown;

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const sound = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const image = { type: 'image', data: picture, mimeType: 'image/png' };

const text = (value: string) => ({ type: 'text' as const, text: value });
const said = (value: string) => ({ content: [text(value)] });
const object = (properties: Json, required: string[] = Object.keys(properties)) =>
  ({ type: 'object', properties, required }) as const;
const embedded = (uri: string, mimeType: string, value: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text: value },
});

/** For the states of calls that are made again. Any number of servers share it. */
const states = createRequestStateCodec<Json>({ key: crypto.getRandomValues(new Uint8Array(32)) });

const stringField = { type: 'string' } as const;
const elicit = (message: string, field: string, schema: { type: string } = stringField) =>
  inputRequired.elicit({ message, requestedSchema: object({ [field]: schema }) as never });
const createMessage = (question: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: text(question) }],
    maxTokens,
  });

/** Asks the client in the middle of a call, which only the older era has. */
async function ask(context: ServerContext, method: string, params: Json): Promise<Json> {
  return (await context.mcpReq.send({ method, params } as never)) as Json;
}

async function fillForm(context: ServerContext, properties: Json) {
  const requestedSchema = object(properties, []);
  const params = { message: 'Please fill in the form', requestedSchema };
  const { action, content } = await ask(context, 'elicitation/create', params);
  const filled = JSON.stringify(content ?? {});
  return said(`Elicitation completed: action=${String(action)}, content=${filled}`);
}

async function logged(context: ServerContext, data: string) {
  await context.mcpReq.notify({
    method: 'notifications/message',
    params: { level: 'info', data },
  });
}

async function sendProgress(context: ServerContext, progress: number) {
  const { progressToken } = context.mcpReq._meta ?? {};
  if (progressToken === undefined) return;
  await context.mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken, progress, total: 100 },
  });
}

const options = ['option1', 'option2', 'option3'];
const titled = (word: string) =>
  ['First', 'Second', 'Third'].map((title, index) => ({
    const: `value${index + 1}`,
    title: `${title} ${word}`,
  }));

function toolsOf(hooks: FixtureHooks): Record<string, { run: Run; inputSchema?: Json }> {
  return {
    test_simple_text: { run: () => said('This is a simple text response for testing.') },
    test_image_content: { run: () => ({ content: [image] }) },
    test_audio_content: {
      run: () => ({ content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }] }),
    },
    test_embedded_resource: {
      run: () => ({
        content: [
          embedded(
            'test://embedded-resource',
            'text/plain',
            'This is an embedded resource content.',
          ),
        ],
      }),
    },
    test_multiple_content_types: {
      run: () => ({
        content: [
          text('Multiple content types test:'),
          image,
          embedded(
            'test://mixed-content-resource',
            'application/json',
            '{"test":"data","value":123}',
          ),
        ],
      }),
    },
    test_tool_with_logging: {
      async run(_args, context) {
        await logged(context, 'Tool execution started');
        await delay(50);
        await logged(context, 'Tool processing data');
        await delay(50);
        await logged(context, 'Tool execution completed');
        return said('Tool with logging executed successfully');
      },
    },
    test_tool_with_progress: {
      async run(_args, context) {
        for (const progress of [0, 50, 100]) {
          await sendProgress(context, progress);
          await delay(50);
        }
        return said('Tool with progress executed successfully');
      },
    },
    test_error_handling: {
      run() {
        throw new Error('This tool intentionally returns an error for testing');
      },
    },
    test_reconnection: {
      async run(_args, context) {
        hooks.closeStream(context.sessionId, context.mcpReq.id);
        await delay(100);
        return said('Reconnection test completed successfully.');
      },
    },
    test_sampling: {
      inputSchema: object({ prompt: stringField }),
      async run(args, context) {
        const answer = await ask(context, 'sampling/createMessage', {
          messages: [{ role: 'user', content: text(String(args.prompt)) }],
          maxTokens: 100,
        });
        return said(`LLM response: ${(answer.content as Json | undefined)?.text}`);
      },
    },
    test_elicitation: {
      inputSchema: object({ message: stringField }),
      async run(args, context) {
        const { action, content } = await ask(context, 'elicitation/create', {
          message: args.message,
          requestedSchema: object({ username: stringField, email: stringField }),
        });
        return said(`User response: action=${String(action)}, content=${JSON.stringify(content)}`);
      },
    },
    test_elicitation_sep1034_defaults: {
      run: (_args, context) =>
        fillForm(context, {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: {
            type: 'string',
            enum: ['active', 'inactive', 'pending'],
            default: 'active',
          },
          verified: { type: 'boolean', default: true },
        }),
    },
    test_elicitation_sep1330_enums: {
      run: (_args, context) =>
        fillForm(context, {
          untitledSingle: { type: 'string', enum: options },
          titledSingle: { type: 'string', oneOf: titled('Option') },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['Option One', 'Option Two', 'Option Three'],
          },
          untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
          titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
        }),
    },
    json_schema_2020_12_tool: {
      inputSchema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: stringField, city: stringField },
          },
        },
        properties: {
          name: stringField,
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: stringField,
          email: stringField,
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      },
      run: (args) => said(JSON.stringify(args)),
    },
    ...toolsOfNewerEra(hooks),
  };
}

function toolsOfNewerEra(hooks: FixtureHooks): Record<string, { run: Run; inputSchema?: Json }> {
  const answers = (context: ServerContext) => context.mcpReq.inputResponses;
  const accepted = (context: ServerContext, name: string, field: string) =>
    acceptedContent<Json>(answers(context), name)?.[field];
  return {
    test_x_mcp_header: {
      inputSchema: object(
        {
          region: { type: 'string', 'x-mcp-header': 'Region' },
          level: { type: 'integer' },
        },
        [],
      ),
      run: (args) => said(`region=${String(args.region)}`),
    },
    test_missing_capability: {
      run: (_args, context) =>
        answers(context)?.answer === undefined
          ? inputRequired({ inputRequests: { answer: createMessage('Say pong', 16) } })
          : said('asked'),
    },
    test_streaming_elicitation: {
      async run(_args, context) {
        await sendProgress(context, 50);
        return accepted(context, 'user_name', 'name') === undefined
          ? inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } })
          : said('asked');
      },
    },
    test_logging_tool: {
      async run(_args, context) {
        await context.mcpReq.log('info', 'A line for whoever asked for lines');
        return said('logged');
      },
    },
    test_trigger_tool_change: {
      run() {
        hooks.toolsChanged();
        return said('told');
      },
    },
    test_trigger_prompt_change: {
      run() {
        hooks.promptsChanged();
        return said('told');
      },
    },
    test_input_required_result_elicitation: {
      run(_args, context) {
        const name = accepted(context, 'user_name', 'name');
        return typeof name === 'string'
          ? said(`Hello, ${name}!`)
          : inputRequired({ inputRequests: { user_name: elicit('What is your name?', 'name') } });
      },
    },
    test_input_required_result_sampling: {
      run(_args, context) {
        const answer = answers(context)?.capital_question;
        const question = createMessage('What is the capital of France?', 100);
        return answer === undefined
          ? inputRequired({ inputRequests: { capital_question: question } })
          : said(`Sampling response: ${JSON.stringify(answer)}`);
      },
    },
    test_input_required_result_list_roots: {
      run(_args, context) {
        const answer = answers(context)?.client_roots;
        return answer === undefined
          ? inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
          : said(JSON.stringify(answer));
      },
    },
    test_input_required_result_request_state: {
      run: (_args, context) => confirmed(context, 'state-ok: the state came back'),
    },
    test_input_required_result_tampered_state: {
      run: (_args, context) => confirmed(context, 'integrity-ok: the state came back'),
    },
    test_input_required_result_multiple_inputs: {
      async run(_args, context) {
        const given = answers(context);
        const isWhole = ['user_name', 'greeting', 'client_roots'].every(
          (name) => given?.[name] !== undefined,
        );
        if (isWhole) return said(JSON.stringify(given));
        return inputRequired({
          inputRequests: {
            user_name: elicit('What is your name?', 'name'),
            greeting: createMessage('Generate a greeting', 50),
            client_roots: inputRequired.listRoots(),
          },
          requestState: await states.mint({ of: 'multiple_inputs' }),
        });
      },
    },
    test_input_required_result_multi_round: {
      async run(_args, context) {
        const state = context.mcpReq.requestState<Json>();
        if (state === undefined)
          return inputRequired({
            inputRequests: { step1: elicit('Step 1: What is your name?', 'name') },
            requestState: await states.mint({ round: 1 }),
          });
        if (state.round === 1)
          return inputRequired({
            inputRequests: { step2: elicit('Step 2: What is your favorite color?', 'color') },
            requestState: await states.mint({
              round: 2,
              name: accepted(context, 'step1', 'name'),
            }),
          });
        const color = accepted(context, 'step2', 'color');
        return said(`${String(state.name)} likes ${String(color)}`);
      },
    },
    test_input_required_result_capabilities: {
      run(_args, context) {
        if (answers(context) !== undefined) return said('asked');
        const declared = ((context.mcpReq.envelope as Json | undefined)?.[
          CLIENT_CAPABILITIES_META_KEY
        ] ?? {}) as Json;
        const inputRequests: InputRequests = {};
        if (declared.elicitation !== undefined)
          inputRequests.user_name = elicit('What is your name?', 'name');
        if (declared.sampling !== undefined)
          inputRequests.greeting = createMessage('Generate a greeting', 50);
        if (declared.roots !== undefined) inputRequests.client_roots = inputRequired.listRoots();
        return inputRequired({ inputRequests });
      },
    },
  };
}

async function confirmed(context: ServerContext, answer: string) {
  const isConfirmed = acceptedContent(context.mcpReq.inputResponses, 'confirm') !== undefined;
  if (isConfirmed && context.mcpReq.requestState() !== undefined) return said(answer);
  return inputRequired({
    inputRequests: { confirm: elicit('Please confirm', 'ok', { type: 'boolean' }) },
    requestState: await states.mint({ of: 'confirm', at: crypto.randomUUID() }),
  });
}

/** One server with all of it, for a session of the older era or a request of the newer. */
export function conformanceServer(hooks: FixtureHooks): McpServer {
  const server = new McpServer(
    { name: 'conformance-fixtures', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        logging: {},
        completions: {},
      },
      requestState: { verify: states.verify },
    },
  );
  for (const [name, { run, inputSchema = object({}) }] of Object.entries(toolsOf(hooks)))
    server.registerTool(
      name,
      { description: `Fixture ${name}`, inputSchema: fromJsonSchema(inputSchema as never) },
      (async (args: Json, context: ServerContext) => run(args, context)) as never,
    );
  addResources(server);
  addPrompts(server);
  const raw = server.server;
  raw.setRequestHandler('resources/subscribe', () => ({}));
  raw.setRequestHandler('resources/unsubscribe', () => ({}));
  raw.setRequestHandler('logging/setLevel', () => ({}));
  raw.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}

function addResources(server: McpServer): void {
  const described = (mimeType: string) => ({ description: 'A fixture', mimeType });
  const plain = (uri: string, value: string) => ({
    contents: [{ uri, mimeType: 'text/plain', text: value }],
  });
  server.registerResource('static-text', 'test://static-text', described('text/plain'), (uri) =>
    plain(uri.href, 'This is the content of the static text resource.'),
  );
  server.registerResource(
    'static-binary',
    'test://static-binary',
    described('image/png'),
    (uri) => ({
      contents: [{ uri: uri.href, mimeType: 'image/png', blob: picture }],
    }),
  );
  server.registerResource('watched', 'test://watched-resource', described('text/plain'), (uri) =>
    plain(uri.href, 'Watched resource content'),
  );
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    described('application/json'),
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${String(id)}` }),
        },
      ],
    }),
  );
}

function addPrompts(server: McpServer): void {
  const user = (...contents: unknown[]) =>
    ({ messages: contents.map((content) => ({ role: 'user', content })) }) as never;
  const described = (args?: string[]) => ({
    description: 'A fixture',
    ...(args === undefined
      ? {}
      : {
          argsSchema: fromJsonSchema(
            object(Object.fromEntries(args.map((name) => [name, stringField]))) as never,
          ) as never,
        }),
  });
  server.registerPrompt('test_simple_prompt', described(), () =>
    user(text('This is a simple prompt for testing.')),
  );
  server.registerPrompt('test_prompt_with_arguments', described(['arg1', 'arg2']), ((args: Json) =>
    user(
      text(`Prompt with arguments: arg1='${String(args.arg1)}', arg2='${String(args.arg2)}'`),
    )) as never);
  server.registerPrompt('test_prompt_with_embedded_resource', described(['resourceUri']), ((
    args: Json,
  ) =>
    user(
      embedded(String(args.resourceUri), 'text/plain', 'Embedded resource content for testing.'),
      text('Please process the embedded resource above.'),
    )) as never);
  server.registerPrompt('test_prompt_with_image', described(), () =>
    user(image, text('Please analyze the image above.')),
  );
  server.registerPrompt('test_input_required_result_prompt', described(), ((
    context: ServerContext,
  ) => {
    const given = acceptedContent<Json>(context.mcpReq.inputResponses, 'user_context');
    return given === undefined
      ? inputRequired({
          inputRequests: { user_context: elicit('What context should it use?', 'context') },
        })
      : user(text(`Use the following context: ${String(given.context)}`));
  }) as never);
}
