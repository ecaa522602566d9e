import { json, type RecordedRequest, sse, type UpstreamReply } from '@sluice/testkit';
import { chat } from './chat.ts';
import { claudeOnBedrock, claudeOnVertex } from './claude-on-clouds.ts';
import { cohere } from './cohere.ts';
import { converse } from './converse.ts';
import { gemini } from './gemini.ts';
import { messages } from './messages.ts';
import { type Body, sayTo, type Vendor } from './model.ts';
import { responses } from './responses.ts';

const vendors: readonly Vendor[] = [
  chat,
  messages,
  responses,
  gemini,
  cohere,
  converse,
  claudeOnBedrock,
  claudeOnVertex,
];

/** A model at each vendor, which refuses what its vendor refuses. */
export function answerOfVendor(request: RecordedRequest): UpstreamReply {
  const body = request.json() as Body;
  const [pathname = ''] = request.path.split('?', 1);
  const vendor = vendors.find(({ path }) => path.test(pathname));
  if (vendor === undefined) throw new Error(`no vendor at ${request.path}`);
  const refusal = vendor.refuse(body, request.path);
  if (refusal !== undefined) return json(refusal.status, refusal.body, vendor.refusalHeaders);
  const question = vendor.read(body, request.path);
  const said = sayTo(question);
  return question.isStreamed
    ? sse(vendor.stream(said, question, body), { headers: vendor.headers })
    : json(200, vendor.reply(said, question, body));
}
