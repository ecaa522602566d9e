import Anthropic from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
import {
  type Framework,
  place,
  question,
  report,
  reportSchema,
  type Seat,
  weather,
} from './framework.ts';

/** The `@anthropic-ai/sdk` client. */
export function anthropicClient({ url, headers, model }: Seat): Framework {
  const client = new Anthropic({
    apiKey: 'sk-vendor',
    baseURL: url,
    defaultHeaders: headers,
    maxRetries: 0,
  });
  const asked = {
    model,
    max_tokens: 4000,
    messages: [{ role: 'user' as const, content: question }],
  };
  const warm = { ...asked, temperature: 0.2 };
  const textOf = (blocks: { type: string }[]) =>
    blocks.map((block) => (block as { text?: string }).text ?? '').join('');
  return {
    async plain() {
      return textOf((await client.messages.create(warm)).content);
    },
    async stream() {
      return client.messages.stream(warm).finalText();
    },
    async bySchema() {
      const format = zodOutputFormat(report);
      const answer = await client.messages.parse({ ...asked, output_config: { format } });
      return answer.parsed_output;
    },
    async byTool() {
      const { content } = await client.messages.create({
        ...asked,
        tools: [{ name: 'tell', input_schema: { ...reportSchema, type: 'object' } }],
        tool_choice: { type: 'tool', name: 'tell' },
      });
      return content.find((block) => block.type === 'tool_use')?.input;
    },
    async loop(look) {
      const runner = client.beta.messages.toolRunner({
        ...asked,
        stream: true,
        tools: [betaZodTool({ ...weather, inputSchema: place, run: ({ city }) => look(city) })],
      });
      let text = '';
      for await (const stream of runner) text = textOf((await stream.finalMessage()).content);
      return text;
    },
  };
}
