import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, isStepCount, type LanguageModel, Output, streamText, tool } from 'ai';
import { type Framework, place, question, report, type Seat, weather } from './framework.ts';

// It would say of each model that it does not know it.
globalThis.AI_SDK_LOG_WARNINGS = false;

function framework(model: LanguageModel): Framework {
  const asked = { model, prompt: question, maxRetries: 0 };
  return {
    async plain() {
      return (await generateText({ ...asked, temperature: 0.2 })).text;
    },
    async stream() {
      return streamText({ ...asked, temperature: 0.2 }).text;
    },
    async bySchema() {
      return (await generateText({ ...asked, output: Output.object({ schema: report }) })).output;
    },
    async byTool() {
      const { toolCalls } = await generateText({
        ...asked,
        tools: { tell: tool({ description: 'Tells', inputSchema: report }) },
        toolChoice: { type: 'tool', toolName: 'tell' },
      });
      return toolCalls[0]?.input;
    },
    async loop(look) {
      return streamText({
        ...asked,
        stopWhen: isStepCount(5),
        tools: {
          [weather.name]: tool({
            description: weather.description,
            inputSchema: place,
            execute: async ({ city }) => look(city),
          }),
        },
      }).text;
    },
  };
}

/** The AI SDK with each of its providers that speaks a format of ours. */
export const aiSdkChat = ({ url, headers, model }: Seat): Framework =>
  framework(createOpenAI({ apiKey: 'sk-vendor', baseURL: `${url}/v1`, headers }).chat(model));

export const aiSdkResponses = ({ url, headers, model }: Seat): Framework =>
  framework(createOpenAI({ apiKey: 'sk-vendor', baseURL: `${url}/v1`, headers }).responses(model));

export const aiSdkAnthropic = ({ url, headers, model }: Seat): Framework =>
  framework(createAnthropic({ apiKey: 'sk-vendor', baseURL: `${url}/v1`, headers })(model));

/** Passed through: Gemini's format is its vendor's alone. */
export const aiSdkGoogle = (
  { url, headers, model }: Seat,
  base: '' | '/v1' | '/v1beta' | '/v1/v1beta' = '/v1/v1beta',
): Framework =>
  framework(
    createGoogleGenerativeAI({ apiKey: 'sk-vendor', baseURL: `${url}${base}`, headers })(model),
  );
