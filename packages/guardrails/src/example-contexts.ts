/** For tests: contexts with one thing about them said, the rest as usual. */
import type { JsonObject } from '@sluice/providers';
import type { CheckContext } from './check.ts';

export function exampleContext(given: Partial<CheckContext> = {}): CheckContext {
  return {
    event: 'beforeRequest',
    endpoint: 'chatComplete',
    request: { model: 'm', messages: [{ role: 'user', content: 'hello' }] },
    response: undefined,
    requestId: 'request-1',
    headers: {},
    metadata: {},
    provider: 'openai',
    status: given.event === 'afterRequest' ? 200 : 0,
    isStream: false,
    signal: new AbortController().signal,
    ask: () => Promise.reject(new Error('nobody is asked')),
    ...given,
  };
}

/** A chat whose last message says this. */
export function asking(content: JsonObject[string]): CheckContext {
  const messages = [
    { role: 'system', content: 'Not looked at.' },
    { role: 'user', content },
  ];
  return exampleContext({ request: { model: 'm', messages } });
}

/** A chat that was answered so. */
export function answering(content: JsonObject[string], more: JsonObject = {}): CheckContext {
  return exampleContext({
    event: 'afterRequest',
    response: { choices: [{ index: 0, message: { role: 'assistant', content, ...more } }] },
  });
}

export function contentOf(request: JsonObject | undefined): unknown {
  return (request?.messages as JsonObject[] | undefined)?.at(-1)?.content;
}
