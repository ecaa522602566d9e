import { FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import {
  type Framework,
  placeSchema,
  question,
  reportSchema,
  type Seat,
  weather,
} from './framework.ts';

/** The `@google/genai` client, passed through. */
export function googleClient({ url, headers, model }: Seat): Framework {
  const httpOptions = { baseUrl: `${url}/v1`, apiVersion: 'v1beta', headers };
  const { models, chats } = new GoogleGenAI({ apiKey: 'AIza-vendor', httpOptions });
  const asked = { model, contents: question };
  return {
    async plain() {
      const answer = await models.generateContent({ ...asked, config: { temperature: 0.2 } });
      return answer.text ?? '';
    },
    async stream() {
      let text = '';
      const stream = await models.generateContentStream({ ...asked, config: { temperature: 0.2 } });
      for await (const chunk of stream) text += chunk.text ?? '';
      return text;
    },
    async bySchema() {
      const config = { responseMimeType: 'application/json', responseJsonSchema: reportSchema };
      return JSON.parse((await models.generateContent({ ...asked, config })).text ?? '');
    },
    async byTool() {
      const tell = { name: 'tell', parametersJsonSchema: reportSchema };
      const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY };
      const config = {
        tools: [{ functionDeclarations: [tell] }],
        toolConfig: { functionCallingConfig },
      };
      return (await models.generateContent({ ...asked, config })).functionCalls?.[0]?.args;
    },
    async loop(look) {
      const tools = [{ functionDeclarations: [{ ...weather, parametersJsonSchema: placeSchema }] }];
      const chat = chats.create({ model, config: { tools } });
      let answer = await chat.sendMessage({ message: question });
      for (;;) {
        const calls = answer.functionCalls ?? [];
        if (calls.length === 0) return answer.text ?? '';
        const message = calls.map(({ name, args }) => ({
          functionResponse: { name, response: { output: look(String(args?.city)) } },
        }));
        answer = await chat.sendMessage({ message });
      }
    },
  };
}
