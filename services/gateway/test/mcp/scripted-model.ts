import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { keepAliveMs } from '@sluice/testkit';

/** What a model says in one visit. */
export interface Turn {
  readonly text?: string;
  /** By the name of the tool at its server, or of a tool of the caller's. */
  readonly calls?: readonly { readonly name: string; readonly args?: object | string }[];
  readonly status?: number;
  /** It thought before, in a way that only its vendor could keep. Of responses alone. */
  readonly thought?: boolean;
  /** What happens while it thinks. */
  readonly meanwhile?: () => Promise<unknown>;
  /** Of a stream: an event before the last one that is none. */
  readonly breaks?: boolean;
}

export interface ScriptedModel {
  readonly url: string;
  /** Gives a model its turns, from the first one on; the last one is said for ever. */
  script(name: string, turns: readonly Turn[]): void;
  /** Bodies that came since, by model. */
  readonly asked: Map<string, Body[]>;
  close(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever a gateway sends
export type Body = Record<string, any>;

/** A vendor of three formats, whose models say what they are told to. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const scripts = new Map<string, readonly Turn[]>();
  const asked = new Map<string, Body[]>();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => {
    void answer(req, res, scripts, asked);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script(name, turns) {
      scripts.set(name, turns);
      asked.delete(name);
    },
    asked,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function answer(
  req: IncomingMessage,
  res: ServerResponse,
  scripts: ReadonlyMap<string, readonly Turn[]>,
  asked: ScriptedModel['asked'],
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
  const model = String(body.model);
  const bodies = asked.get(model) ?? [];
  asked.set(model, [...bodies, body]);
  const turns = scripts.get(model) ?? [{ text: 'Nothing was scripted.' }];
  const turn = turns[Math.min(bodies.length, turns.length - 1)]!;
  await turn.meanwhile?.();
  const path = req.url ?? '';
  const vendor = path.includes('/responses')
    ? responses
    : path.includes('/messages')
      ? messages
      : chat;
  if (turn.status !== undefined) {
    res.writeHead(turn.status, { 'content-type': 'application/json' });
    res.end(JSON.stringify({ error: { message: 'scripted failure', type: 'server_error' } }));
    return;
  }
  const offered = ((body.tools ?? []) as Body[]).map((tool) =>
    String(tool.function?.name ?? tool.name),
  );
  const calls = (turn.calls ?? []).map(({ name, args = {} }, index) => ({
    // As vendors' own, it does not end in a place.
    id: `${bodies.length}_${index}x`,
    name: offered.find((each) => each === name || each.endsWith(`__${name}`)) ?? name,
    args: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  const said: Said = {
    id: `${bodies.length}`,
    model,
    text: turn.text,
    calls,
    store: body.store,
    thought: turn.thought === true,
  };
  if (body.stream !== true) {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(JSON.stringify(vendor.whole(said)));
    return;
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = vendor.events(said);
  if (turn.breaks === true) events.splice(-1, 0, 'data: {"type":"resp\n\n');
  for (const event of events) {
    res.write(event);
    await delay(1);
  }
  res.end();
}

interface Said {
  readonly id: string;
  readonly model: string;
  readonly text: string | undefined;
  readonly calls: readonly { id: string; name: string; args: string }[];
  readonly store: unknown;
  readonly thought: boolean;
}

interface Vendor {
  whole(said: Said): Body;
  events(said: Said): string[];
}

const named = (data: Body) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const responses: Vendor = {
  whole: ({ id, model, text, calls, store, thought }) => ({
    id: `resp_${model}_${id}`,
    object: 'response',
    created_at: 1_700_000_000 + Number(id),
    status: 'completed',
    model,
    store: store ?? true,
    tools: [],
    output: [
      ...(thought ? [{ id: `rs_${id}`, type: 'reasoning', summary: [] }] : []),
      ...(text === undefined
        ? []
        : [
            {
              id: `msg_${id}`,
              type: 'message',
              role: 'assistant',
              status: 'completed',
              content: [{ type: 'output_text', text, annotations: [] }],
            },
          ]),
      ...calls.map((call) => ({
        id: `fc_${call.id}`,
        type: 'function_call',
        status: 'completed',
        call_id: `call_${call.id}`,
        name: call.name,
        arguments: call.args,
      })),
    ],
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 1 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 15,
    },
  }),
  events(said) {
    const whole = responses.whole(said);
    const begun = { ...whole, status: 'in_progress', output: [], usage: null };
    let at = 0;
    const event = (data: Body) => named({ ...data, sequence_number: at++ });
    return [
      event({ type: 'response.created', response: begun }),
      event({ type: 'response.in_progress', response: begun }),
      ...(whole.output as Body[]).flatMap((item, index) => {
        const place = { output_index: index, item_id: item.id };
        const isText = item.type === 'message';
        const part = { type: 'output_text', text: '', annotations: [] };
        const around = (type: string, over: object = {}) =>
          event({ type, output_index: index, item: { ...item, ...over } });
        if (item.type === 'reasoning')
          return [around('response.output_item.added'), around('response.output_item.done')];
        return [
          event({
            type: 'response.output_item.added',
            output_index: index,
            item: {
              ...item,
              status: 'in_progress',
              ...(isText ? { content: [] } : { arguments: '' }),
            },
          }),
          ...(isText
            ? [
                event({ type: 'response.content_part.added', ...place, content_index: 0, part }),
                event({
                  type: 'response.output_text.delta',
                  ...place,
                  content_index: 0,
                  delta: item.content[0].text,
                }),
                event({
                  type: 'response.output_text.done',
                  ...place,
                  content_index: 0,
                  text: item.content[0].text,
                }),
                event({
                  type: 'response.content_part.done',
                  ...place,
                  content_index: 0,
                  part: item.content[0],
                }),
              ]
            : [
                event({
                  type: 'response.function_call_arguments.delta',
                  ...place,
                  delta: item.arguments,
                }),
                event({
                  type: 'response.function_call_arguments.done',
                  ...place,
                  arguments: item.arguments,
                }),
              ]),
          event({ type: 'response.output_item.done', output_index: index, item }),
        ];
      }),
      event({ type: 'response.completed', response: whole }),
    ];
  },
};

const messages: Vendor = {
  whole: ({ id, model, text, calls }) => ({
    id: `msg_${model}_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...calls.map((call) => ({
        type: 'tool_use',
        id: `toolu_${call.id}`,
        name: call.name,
        input: JSON.parse(call.args) as object,
      })),
    ],
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 5 },
  }),
  events(said) {
    const whole = messages.whole(said);
    const { content, stop_reason, usage } = whole;
    return [
      named({
        type: 'message_start',
        message: {
          ...whole,
          content: [],
          stop_reason: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      named({ type: 'ping' }),
      ...(content as Body[]).flatMap((block, index) => {
        const isText = block.type === 'text';
        const json = JSON.stringify(block.input);
        return [
          named({
            type: 'content_block_start',
            index,
            content_block: isText ? { type: 'text', text: '' } : { ...block, input: {} },
          }),
          ...(isText
            ? [{ type: 'text_delta', text: block.text }]
            : [json?.slice(0, 3), json?.slice(3)].map((partial_json) => ({
                type: 'input_json_delta',
                partial_json,
              }))
          ).map((delta) => named({ type: 'content_block_delta', index, delta })),
          named({ type: 'content_block_stop', index }),
        ];
      }),
      named({
        type: 'message_delta',
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: 5 },
      }),
      named({ type: 'message_stop' }),
    ];
  },
};

const chat: Vendor = {
  whole: ({ id, model, text, calls }) => ({
    id: `chatcmpl-${model}-${id}`,
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          ...(calls.length > 0 && {
            tool_calls: calls.map((call) => ({
              id: `call_${call.id}`,
              type: 'function',
              function: { name: call.name, arguments: call.args },
            })),
          }),
        },
        finish_reason: calls.length > 0 ? 'tool_calls' : 'stop',
      },
    ],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }),
  events(said) {
    const whole = chat.whole(said);
    const { message, finish_reason } = whole.choices[0];
    const chunk = (delta: object, end: string | null = null, usage?: object) =>
      `data: ${JSON.stringify({
        id: whole.id,
        object: 'chat.completion.chunk',
        created: whole.created,
        model: whole.model,
        choices: usage === undefined ? [{ index: 0, delta, finish_reason: end }] : [],
        ...(usage === undefined ? {} : { usage }),
      })}\n\n`;
    return [
      chunk({ role: 'assistant', content: '' }),
      ...(message.content === null ? [] : [chunk({ content: message.content })]),
      ...((message.tool_calls ?? []) as Body[]).map((call, index) =>
        chunk({ tool_calls: [{ index, ...call }] }),
      ),
      chunk({}, finish_reason),
      chunk({}, null, whole.usage),
      'data: [DONE]\n\n',
    ];
  },
};
