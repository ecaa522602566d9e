import OpenAI from 'openai';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import {
  type Framework,
  placeSchema,
  question,
  report,
  reportSchema,
  type Seat,
  weather,
} from './framework.ts';

function clientOf({ url, headers }: Seat): OpenAI {
  return new OpenAI({
    apiKey: 'sk-vendor',
    baseURL: `${url}/v1`,
    defaultHeaders: headers,
    maxRetries: 0,
  });
}

/** The `openai` client, by chat completions. */
export function openAiChat(seat: Seat): Framework {
  const { model } = seat;
  const { chat } = clientOf(seat);
  const messages = [{ role: 'user' as const, content: question }];
  return {
    async plain() {
      const answer = await chat.completions.create({ model, messages, temperature: 0.2 });
      return answer.choices[0]?.message.content ?? '';
    },
    async stream() {
      const stream = chat.completions.stream({
        model,
        messages,
        temperature: 0.2,
        stream_options: { include_usage: true },
      });
      return (await stream.finalContent()) ?? '';
    },
    async bySchema() {
      const answer = await chat.completions.parse({
        model,
        messages,
        response_format: zodResponseFormat(report, 'report'),
      });
      return answer.choices[0]?.message.parsed;
    },
    async byTool() {
      const answer = await chat.completions.create({
        model,
        messages,
        tools: [{ type: 'function', function: { name: 'tell', parameters: reportSchema } }],
        tool_choice: { type: 'function', function: { name: 'tell' } },
      });
      const call = answer.choices[0]?.message.tool_calls?.[0];
      return call?.type === 'function' ? JSON.parse(call.function.arguments) : undefined;
    },
    async loop(look) {
      const run = chat.completions.runTools({
        model,
        messages,
        stream: true,
        tools: [
          {
            type: 'function',
            function: {
              ...weather,
              parameters: placeSchema,
              parse: JSON.parse,
              function: ({ city }: { city: string }) => look(city),
            },
          },
        ],
      });
      return (await run.finalContent()) ?? '';
    },
  };
}

/** The same client, by responses, which it keeps itself. */
export function openAiResponses(seat: Seat): Framework {
  const { model } = seat;
  const { responses } = clientOf(seat);
  const asked = { model, store: false };
  return {
    async plain() {
      const answer = await responses.create({ ...asked, input: question, temperature: 0.2 });
      return answer.output_text;
    },
    async stream() {
      const stream = responses.stream({ ...asked, input: question, temperature: 0.2 });
      return (await stream.finalResponse()).output_text;
    },
    async bySchema() {
      const answer = await responses.parse({
        ...asked,
        input: question,
        text: { format: zodTextFormat(report, 'report') },
      });
      return answer.output_parsed;
    },
    async byTool() {
      const { output } = await responses.create({
        ...asked,
        input: question,
        tools: [{ type: 'function', name: 'tell', parameters: reportSchema, strict: true }],
        tool_choice: { type: 'function', name: 'tell' },
      });
      const call = output.find((item) => item.type === 'function_call');
      return call === undefined ? undefined : JSON.parse(call.arguments);
    },
    async loop(look) {
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: question }];
      for (;;) {
        const answer = await responses
          .stream({
            ...asked,
            input,
            tools: [{ type: 'function', ...weather, parameters: placeSchema, strict: true }],
          })
          .finalResponse();
        const calls = answer.output.filter((item) => item.type === 'function_call');
        if (calls.length === 0) return answer.output_text;
        for (const item of answer.output)
          if (item.type === 'function_call' || item.type === 'message' || item.type === 'reasoning')
            input.push(item);
        for (const call of calls)
          input.push({
            type: 'function_call_output',
            call_id: call.call_id,
            output: look(JSON.parse(call.arguments).city),
          });
      }
    },
  };
}
