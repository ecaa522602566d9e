import { type Cohere, CohereClientV2 } from 'cohere-ai';
import {
  type Framework,
  placeSchema,
  question,
  reportSchema,
  type Seat,
  weather,
} from './framework.ts';

/** The `cohere-ai` client, passed through. */
export function cohereClient({ url, headers, model }: Seat): Framework {
  const options = { token: 'sk-vendor', environment: `${url}/v1/proxy`, headers, maxRetries: 0 };
  const cohere = new CohereClientV2(options as ConstructorParameters<typeof CohereClientV2>[0]);
  const user = { role: 'user' as const, content: question };
  const asked = { model, messages: [user] };
  const textOf = (blocks: Cohere.AssistantMessageResponseContentItem[] | undefined) =>
    (blocks ?? []).map((block) => (block.type === 'text' ? block.text : '')).join('');
  const toolOf = (name: string, parameters: Record<string, unknown>) => ({
    type: 'function' as const,
    function: { name, description: weather.description, parameters },
  });
  return {
    async plain() {
      return textOf((await cohere.chat({ ...asked, temperature: 0.2 })).message.content);
    },
    async stream() {
      let text = '';
      for await (const event of await cohere.chatStream({ ...asked, temperature: 0.2 }))
        if (event.type === 'content-delta') text += event.delta?.message?.content?.text ?? '';
      return text;
    },
    async bySchema() {
      const responseFormat = { type: 'json_object' as const, jsonSchema: reportSchema };
      return JSON.parse(textOf((await cohere.chat({ ...asked, responseFormat })).message.content));
    },
    async byTool() {
      const tools = [toolOf('tell', reportSchema)];
      const { message } = await cohere.chat({ ...asked, tools, toolChoice: 'REQUIRED' });
      return JSON.parse(message.toolCalls?.[0]?.function?.arguments ?? '');
    },
    async loop(look) {
      const tools = [toolOf(weather.name, placeSchema)];
      const messages: Cohere.ChatMessageV2[] = [user];
      for (;;) {
        const { message } = await cohere.chat({ model, messages, tools });
        const calls = message.toolCalls ?? [];
        if (calls.length === 0) return textOf(message.content);
        messages.push({ role: 'assistant', toolCalls: calls, toolPlan: message.toolPlan ?? '' });
        for (const { id = '', function: called } of calls)
          messages.push({
            role: 'tool',
            toolCallId: id,
            content: look(JSON.parse(called?.arguments ?? '{}').city),
          });
      }
    },
  };
}
