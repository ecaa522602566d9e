import type { CheckSubject } from '@sluice/contracts/checks';
import { type JsonObject, type TextSource, textsOf } from '@sluice/providers';
import type { CheckContext } from './check.ts';

/** What a host that judges is told of a request and its answer. Headers are not: they hold credentials. */
export function toldContext(context: CheckContext, subjects: readonly CheckSubject[]): JsonObject {
  const { event, request, response, provider, endpoint, metadata, isStream, status } = context;
  const textOf = (side: TextSource['event']) =>
    textsOf({ event: side, endpoint, request, response }, subjects).joined;
  return {
    request: {
      json: request,
      text: textOf('beforeRequest'),
      isStreamingRequest: isStream,
      isTransformed: false,
    },
    response: {
      json: response ?? {},
      text: response === undefined ? '' : textOf('afterRequest'),
      statusCode: response === undefined ? null : status,
      isTransformed: false,
    },
    provider,
    requestType: endpoint,
    metadata: { ...metadata },
    eventType: event === 'beforeRequest' ? 'beforeRequestHook' : 'afterRequestHook',
  };
}
