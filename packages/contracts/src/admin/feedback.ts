import { z } from 'zod';
import { endpoint } from './endpoint.ts';

const feedbackRequestInput = z.object({
  trace_id: z.string(),
  value: z.int().min(-10).max(10),
  weight: z.number().min(0).max(1).default(1.0),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

const feedbackResponse = z.object({
  status: z.string(),
  message: z.string(),
  feedback_ids: z.array(z.string()),
});

const feedbackUpdateRequestInput = z.object({
  value: z.int().min(-10).max(10),
  weight: z.number().min(0).max(1).default(1.0),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

export const feedbackEndpoints = {
  'feedback.create': endpoint({
    operationId: 'createFeedback',
    tag: 'Feedback',
    method: 'post',
    path: '/feedback',
    body: feedbackRequestInput,
    answer: feedbackResponse,
  }),
  'feedback.update': endpoint({
    operationId: 'updateFeedback',
    tag: 'Feedback',
    method: 'put',
    path: '/feedback/{id}',
    body: feedbackUpdateRequestInput,
    answer: feedbackResponse,
  }),
};
