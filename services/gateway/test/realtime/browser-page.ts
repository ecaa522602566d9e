/** What a page does with a secret, in a real browser (`npm run realtime:browser`). */
import OpenAI from 'openai';
import { OpenAIRealtimeWebSocket } from 'openai/realtime/websocket';

Object.assign(globalThis, {
  /** Holds a conversation of one turn. @returns the usage of the response */
  async talk(secret: string, baseURL: string): Promise<unknown> {
    const client = new OpenAI({ apiKey: secret, baseURL, dangerouslyAllowBrowser: true });
    const live = new OpenAIRealtimeWebSocket({ model: 'gpt-realtime' }, client);
    return new Promise((resolve, reject) => {
      live.on('error', reject);
      live.on('session.created', () => live.send({ type: 'response.create' }));
      live.on('response.done', ({ response }) => {
        live.close();
        resolve(response.usage);
      });
    });
  },
});
