import { Mistral } from '@mistralai/mistralai';
import {
  type Framework,
  placeSchema,
  question,
  report,
  reportSchema,
  type Seat,
  weather,
} from './framework.ts';

/** The `@mistralai/mistralai` client. */
export function mistralClient({ url, headers, model }: Seat): Framework {
  const { chat } = new Mistral({
    apiKey: 'sk-vendor',
    serverURL: url,
    retryConfig: { strategy: 'none' },
  });
  const options = { headers };
  const user = { role: 'user' as const, content: question };
  return {
    async plain() {
      const answer = await chat.complete({ model, messages: [user], temperature: 0.2 }, options);
      return String(answer.choices[0]?.message?.content);
    },
    async stream() {
      let text = '';
      const stream = await chat.stream({ model, messages: [user], temperature: 0.2 }, options);
      for await (const { data } of stream) text += data.choices[0]?.delta.content ?? '';
      return text;
    },
    async bySchema() {
      const answer = await chat.parse({ model, messages: [user], responseFormat: report }, options);
      return answer.choices?.[0]?.message?.parsed;
    },
    async byTool() {
      const answer = await chat.complete(
        {
          model,
          messages: [user],
          tools: [{ type: 'function', function: { name: 'tell', parameters: reportSchema } }],
          toolChoice: 'any',
        },
        options,
      );
      return argumentsOf(answer.choices[0]?.message?.toolCalls?.[0]);
    },
    async loop(look) {
      const messages: Parameters<typeof chat.complete>[0]['messages'] = [user];
      for (;;) {
        const answer = await chat.complete(
          {
            model,
            messages,
            tools: [{ type: 'function', function: { ...weather, parameters: placeSchema } }],
          },
          options,
        );
        const { message } = answer.choices[0] ?? {};
        const calls = message?.toolCalls ?? [];
        if (message === undefined || calls.length === 0) return String(message?.content);
        messages.push({ ...message, role: 'assistant' });
        for (const call of calls)
          messages.push({
            role: 'tool',
            toolCallId: call.id,
            name: call.function.name,
            content: look((argumentsOf(call) as { city: string }).city),
          });
      }
    },
  };
}

function argumentsOf(call: { function: { arguments: unknown } } | undefined): unknown {
  const told = call?.function.arguments;
  return typeof told === 'string' ? JSON.parse(told) : told;
}
