import { type Context, type Examples, workspaceOnly } from '../../example.ts';

const judgement = { value: -3, weight: 0.5, metadata: { _user: 'ada', comment: 'Too long' } };

async function feedback({ workspace }: Context) {
  const answer = await workspace.post('/feedback', { trace_id: 'a-trace', value: 5 }).expect(200);
  return [{ id: answer.body.feedback_ids[0] }];
}

export const examples: Examples = {
  'feedback.create': {
    callers: workspaceOnly,
    body: () => ({ trace_id: 'a-trace', ...judgement }),
  },
  'feedback.update': { callers: workspaceOnly, path: feedback, body: () => judgement },
};
