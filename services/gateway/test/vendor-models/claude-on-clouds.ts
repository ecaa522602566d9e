import { refuseGooglePath, refuseGoogleQuery, refuseMessages } from '@sluice/testkit';
import { awsEvent, awsStreamHeaders } from '../aws-frame.ts';
import { messages } from './messages.ts';
import type { Vendor } from './model.ts';

/** Claude's own messages at Bedrock's InvokeModel. */
export const claudeOnBedrock: Vendor = {
  ...messages,
  path: /\/model\/[^/]+\/invoke(?:-with-response-stream)?$/,
  headers: awsStreamHeaders,
  refusalHeaders: { 'x-amzn-errortype': 'ValidationException' },
  refuse(body, path) {
    const told =
      'stream' in body
        ? 'stream: Extra inputs are not permitted'
        : messageIn(refuseMessages(body, { host: 'bedrock', model: modelIn(path) }));
    return told === undefined ? undefined : { status: 400, body: { message: told } };
  },
  read: (body, path) => ({
    ...messages.read({ ...body, model: modelIn(path) }, path),
    isStreamed: path.endsWith('-stream'),
  }),
  // A chunk holds one event of the model's own.
  stream: (said, question, body) =>
    messages.stream(said, question, body).map((event) => {
      const data = /^data: (.*)$/m.exec(String(event))?.[1] ?? '';
      return awsEvent('chunk', { bytes: Buffer.from(data).toString('base64') });
    }),
};

/** The same at Vertex AI. */
export const claudeOnVertex: Vendor = {
  ...messages,
  path: /\/publishers\/anthropic\/models\/[^/]+:(?:streamR|r)awPredict$/,
  refuse: (body, path) =>
    refuseGooglePath(path) ??
    refuseGoogleQuery(path) ??
    refuseMessages(body, { host: 'vertex', model: modelIn(path) }),
  read: (body, path) => messages.read({ ...body, model: modelIn(path) }, path),
};

function modelIn(path: string): string {
  return decodeURIComponent(/\/models?\/([^/:]+)/.exec(decodeURIComponent(path))?.[1] ?? '');
}

function messageIn(refusal: ReturnType<typeof refuseMessages>): string | undefined {
  return (refusal?.body as { error: { message: string } } | undefined)?.error.message;
}
