import { implementAll, pathParameter } from '../../kernel/http/implement.ts';
import { changeFeedback, createFeedback } from './operations.ts';

export const feedbackOperations = implementAll('feedback', {
  create: async (call, { body }) => ({
    status: 'success',
    message: 'Feedback successfully saved',
    feedback_ids: await createFeedback(call, body),
  }),
  update: async (call, { body }) => {
    const id = pathParameter(call, 'id');
    await changeFeedback(call, id, body);
    return {
      status: 'success',
      message: 'Feedback successfully updated',
      feedback_ids: [id.toLowerCase()],
    };
  },
});
