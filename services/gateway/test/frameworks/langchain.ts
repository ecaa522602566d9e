import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import {
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI } from '@langchain/openai';
import { type Framework, place, question, report, type Seat, weather } from './framework.ts';

type Model = BaseChatModel;

function framework(warm: Model, plain: Model): Framework {
  const bound = (model: Model, tools: object[], options?: object) => {
    if (model.bindTools === undefined) throw new Error('tools cannot be bound');
    return model.bindTools(tools, options);
  };
  return {
    async plain() {
      return (await warm.invoke(question)).text;
    },
    async stream() {
      let text = '';
      for await (const chunk of await warm.stream(question)) text += chunk.text;
      return text;
    },
    bySchema: () => plain.withStructuredOutput(report, { method: 'jsonSchema' }).invoke(question),
    byTool: () =>
      plain
        .withStructuredOutput(report, { method: 'functionCalling', name: 'tell' })
        .invoke(question),
    async loop(look) {
      const look_ = tool(({ city }: { city: string }) => look(city), { ...weather, schema: place });
      const model = bound(plain, [look_]);
      const messages: BaseMessage[] = [new HumanMessage(question)];
      for (;;) {
        let answer: AIMessageChunk | undefined;
        for await (const chunk of await model.stream(messages))
          answer =
            answer === undefined
              ? (chunk as AIMessageChunk)
              : answer.concat(chunk as AIMessageChunk);
        if (answer === undefined) throw new Error('nothing was said');
        const calls = answer.tool_calls ?? [];
        if (calls.length === 0) return answer.text;
        messages.push(answer);
        for (const { id = '', args } of calls)
          messages.push(new ToolMessage({ tool_call_id: id, content: look(args.city) }));
      }
    },
  };
}

/** LangChain, by the models of its two packages. */
export function langChainOpenAi({ url, headers, model }: Seat): Framework {
  const configuration = { baseURL: `${url}/v1`, defaultHeaders: headers };
  const common = { model, apiKey: 'sk-vendor', configuration, maxRetries: 0 };
  return framework(new ChatOpenAI({ ...common, temperature: 0.2 }), new ChatOpenAI(common));
}

export function langChainAnthropic({ url, headers, model }: Seat): Framework {
  const common = {
    model,
    apiKey: 'sk-vendor',
    anthropicApiUrl: url,
    clientOptions: { defaultHeaders: headers },
    maxTokens: 4000,
    maxRetries: 0,
  };
  return framework(new ChatAnthropic({ ...common, temperature: 0.2 }), new ChatAnthropic(common));
}
