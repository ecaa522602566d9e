import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import OpenAI from 'openai';
import { type Framework, place, question, report, type Seat, weather } from './framework.ts';

// It would tell OpenAI of each run.
setTracingDisabled(true);

function framework(model: OpenAIChatCompletionsModel | OpenAIResponsesModel): Framework {
  const runner = new Runner({ tracingDisabled: true });
  const common = { name: 'Teller', instructions: 'Be brief.', model };
  const warm = new Agent({ ...common, modelSettings: { temperature: 0.2 } });
  return {
    async plain() {
      return (await runner.run(warm, question)).finalOutput ?? '';
    },
    async stream() {
      const run = await runner.run(warm, question, { stream: true });
      let text = '';
      for await (const piece of run.toTextStream()) text += piece;
      await run.completed;
      return text;
    },
    async bySchema() {
      const agent = new Agent({ ...common, outputType: report });
      return (await runner.run(agent, question)).finalOutput;
    },
    async byTool() {
      let told: unknown;
      const tell = tool({
        name: 'tell',
        description: 'Tells',
        parameters: report,
        execute: (input) => {
          told = input;
          return 'told';
        },
      });
      const agent = new Agent({
        ...common,
        tools: [tell],
        modelSettings: { toolChoice: 'tell' },
        toolUseBehavior: 'stop_on_first_tool',
      });
      await runner.run(agent, question);
      return told;
    },
    async loop(look) {
      const looks = tool({ ...weather, parameters: place, execute: ({ city }) => look(city) });
      const agent = new Agent({ ...common, tools: [looks] });
      const run = await runner.run(agent, question, { stream: true });
      await run.completed;
      return run.finalOutput ?? '';
    },
  };
}

function clientOf({ url, headers }: Seat): OpenAI {
  return new OpenAI({
    apiKey: 'sk-vendor',
    baseURL: `${url}/v1`,
    defaultHeaders: headers,
    maxRetries: 0,
  });
}

/** OpenAI's Agents SDK, by both formats. */
export const agentsByChat = (seat: Seat): Framework =>
  framework(new OpenAIChatCompletionsModel(clientOf(seat), seat.model));

export const agentsByResponses = (seat: Seat): Framework =>
  framework(new OpenAIResponsesModel(clientOf(seat), seat.model));
