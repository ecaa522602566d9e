import { type EndpointOperation, operations } from '@sluice/contracts';
import type { callers } from '@sluice/proto-stubs';

/** What a method is: an endpoint of HTTP, answered whole or as a stream. */
export interface CalledEndpoint {
  readonly operation: EndpointOperation;
  /** Undefined where the endpoint has no streams. */
  readonly asksStream: boolean | undefined;
}

type Called = Exclude<keyof typeof callers.Gateway.method, 'health'>;

const { embed, chatComplete, messages, createModelResponse } = operations;

/** Every method that is a request, by its local name. */
export const calledEndpoints: Readonly<Record<Called, CalledEndpoint>> = {
  embeddings: { operation: embed, asksStream: undefined },
  chatCompletions: { operation: chatComplete, asksStream: false },
  chatCompletionsStream: { operation: chatComplete, asksStream: true },
  messages: { operation: messages, asksStream: false },
  messagesStream: { operation: messages, asksStream: true },
  responses: { operation: createModelResponse, asksStream: false },
  responsesStream: { operation: createModelResponse, asksStream: true },
};
