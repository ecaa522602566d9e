/**
 * SageMaker's runtime hosts whatever its owner put there, so calls pass through
 * under the owner's path (`/v1/proxy/endpoints/<name>/invocations`). Chat
 * completions are offered for endpoints that run an OpenAI-compatible server:
 * the model is the endpoint's name.
 */
import { modelSegment, namesIn } from '../../address.ts';
import { awsSettings, regionalHost } from '../../addresses/bedrock.ts';
import type { EndpointEntry, ProviderEntry } from '../../contract.ts';
import { AwsEventStreamUnframer, type FrameWriter } from '../../framing/aws-event-stream.ts';
import { faultOfFrame } from '../../framing/aws-exceptions.ts';
import { empty } from '../../framing/stream-tap.ts';

/** A part is a piece of the server's own event stream, cut anywhere. */
const writePart: FrameWriter = (frame) => {
  const fault = faultOfFrame(frame);
  if (fault === undefined) return { bytes: frame.name === 'PayloadPart' ? frame.payload : empty };
  const error = { message: fault.message, type: fault.type, param: null, code: null };
  return { bytes: Buffer.from(`\n\ndata: ${JSON.stringify({ error })}\n\n`), fault };
};

const chat: EndpointEntry = {
  format: 'openai-chat',
  path: ({ model, stream }) =>
    `/endpoints/${modelSegment(model)}/invocations${stream ? '-response-stream' : ''}`,
  envelope: {
    translatesErrors: true,
    openUnframer: () => new AwsEventStreamUnframer(writePart),
  },
};

/** Tails of the headers that callers and SageMaker know under a prefix each. */
const headers = [
  'custom-attributes',
  'target-model',
  'target-variant',
  'target-container-hostname',
  'inference-id',
  'enable-explanations',
  'inference-component',
  'session-id',
  'model-name',
] as const;

const chooseModel = [
  'target-model',
  'target-variant',
  'target-container-hostname',
  'inference-component',
  'model-name',
];

export const sagemaker: ProviderEntry = {
  id: 'sagemaker',
  name: 'AWS SageMaker',
  baseUrl: regionalHost('runtime.sagemaker'),
  auth: { type: 'aws', service: 'sagemaker' },
  accountHeaders: ['x-amz-security-token'],
  endpoints: { chatComplete: chat },
  settings: [...awsSettings, ...headers.map((tail) => `amzn-sagemaker-${tail}` as const)],
  settingHeaders: Object.fromEntries(
    headers.map((tail) => [`x-amzn-sagemaker-${tail}`, `amzn-sagemaker-${tail}` as const]),
  ),
  // An endpoint may hold several models, and these say which of them answers.
  servedBy: ({ setting }) =>
    namesIn(setting, ...chooseModel.map((tail) => `amzn-sagemaker-${tail}`)),
  quirks: { developerAsSystem: true },
  source:
    'https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_runtime_InvokeEndpoint.html, November 2026',
  note: 'Chat completions work where the endpoint runs an OpenAI-compatible server; anything else passes through.',
};
