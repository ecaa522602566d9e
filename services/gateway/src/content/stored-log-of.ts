import { keptBody, type StoredLog } from '@sluice/log-content';
import { assembleStream, isStreamable } from '@sluice/providers';
import { type BodyName, bodyNames } from './kept-content.ts';
import type { SegmentEntry, SegmentHead } from './segment.ts';

/** The object of a log. A stream is told as the answer that it adds up to. */
export function storedLogOf({ head, bodies }: SegmentEntry): StoredLog {
  const bodyOf = (name: BodyName, contentType: string) => {
    const content = bodies[name];
    if (content === undefined) return undefined;
    return keptBody(content, { contentType, bytes: head.sizes[bodyNames.indexOf(name)]?.[1] });
  };
  const request = bodyOf('request', head.requestHeaders['content-type'] ?? '');
  const responseType = head.responseHeaders['content-type'] ?? '';
  const response = assembled(head.streamFormat, responseType, bodies.response, isCut(head.sizes));
  const sent = bodyOf('sent', 'application/json');
  const received = bodyOf('received', 'application/json');
  return {
    _id: head.logId,
    organisation_id: head.organisationId,
    workspace_id: head.workspaceId,
    created_at: new Date(head.createdAtMs).toISOString(),
    request: {
      url: head.url,
      method: head.method,
      headers: head.requestHeaders,
      serviceHeaders: head.serviceHeaders,
      ...(request !== undefined && { body: request }),
    },
    response: {
      status: head.status,
      responseTime: Math.round(head.responseTimeMs),
      lastUsedOptionJsonPath: head.optionPath,
      ...(bodies.response !== undefined && {
        headers: head.responseHeaders,
        body: response ?? bodyOf('response', responseType),
      }),
    },
    ...(head.sent !== undefined && {
      transformedRequest: { ...head.sent, ...(sent !== undefined && { body: sent }) },
    }),
    ...(received !== undefined && { originalResponse: { body: received } }),
  };
}

function isCut(sizes: SegmentHead['sizes']): boolean {
  const size = sizes[bodyNames.indexOf('response')];
  return size !== null && size !== undefined && size[0] < size[1];
}

/** Undefined where it is no stream, or is not all there: then it is kept as the text that it is. */
function assembled(
  format: SegmentHead['streamFormat'],
  contentType: string,
  content: Buffer | undefined,
  isCutOff: boolean,
) {
  if (content === undefined || isCutOff || !/^text\/event-stream\b/i.test(contentType))
    return undefined;
  if (format === undefined || !isStreamable(format)) return undefined;
  try {
    return assembleStream(format, content, { mayLackUsage: true });
  } catch {
    return undefined;
  }
}
