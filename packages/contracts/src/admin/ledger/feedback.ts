import { z } from 'zod';
import { workspaceKey } from '../kernel/access.ts';
import { endpoint } from '../kernel/endpoint.ts';

const metadataLengthMax = 16_384;

/** An object, or the JSON text of one. */
const metadata = z
  .union([
    z.record(z.string(), z.unknown()),
    z.string().transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.issues.push({ code: 'custom', message: 'must be a JSON object', input: text });
        return z.NEVER;
      }
    }),
  ])
  .pipe(z.record(z.string().max(128), z.unknown()))
  .refine(
    (value) => JSON.stringify(value).length <= metadataLengthMax,
    `may take ${metadataLengthMax} characters at most`,
  );

const judgement = {
  value: z.int().min(-10).max(10),
  metadata: metadata.optional(),
};
const weight = z.number().min(0).max(1);

const feedback = z.object({
  trace_id: z.string().min(1).max(512),
  ...judgement,
  weight: weight.default(1),
});

const answer = z.object({
  status: z.literal('success'),
  message: z.string(),
  /** In the order in which they were sent. */
  feedback_ids: z.array(z.uuid()),
});

export const feedbackEndpoints = {
  'feedback.create': endpoint({
    operationId: 'createFeedback',
    summary: 'Rate requests, by the id of their trace',
    tag: 'Feedback',
    method: 'post',
    path: '/feedback',
    access: { keys: workspaceKey, scopes: ['logs.write', 'feedbacks.write'] },
    body: z.union([feedback, z.array(feedback).min(1).max(1000)]),
    answer,
  }),
  'feedback.update': endpoint({
    operationId: 'updateFeedback',
    summary: 'Change a rating',
    tag: 'Feedback',
    method: 'put',
    path: '/feedback/{id}',
    access: { keys: workspaceKey, scopes: ['logs.write', 'feedbacks.write'] },
    body: z.object({ ...judgement, weight: weight.optional() }),
    answer,
  }),
};
