import { z } from 'zod';
import { text } from '../parameter-fields.ts';
import { apiKey, partnerParameters } from '../partner-fields.ts';

const own = { credentials: apiKey };
const mode = z.enum(['speed', 'balanced', 'quality']).default('balanced');
const plain = { parameters: partnerParameters(own, 60_000) };
const weighed = { parameters: partnerParameters({ ...own, mode }, 60_000) };

export const qualifireChecks = {
  'qualifire.contentModeration': plain,
  'qualifire.pii': plain,
  'qualifire.promptInjections': plain,
  'qualifire.hallucinations': weighed,
  'qualifire.grounding': weighed,
  'qualifire.policy': {
    parameters: partnerParameters(
      {
        ...own,
        mode,
        policies: z.array(text).min(1).max(100),
        policy_target: z.enum(['input', 'output', 'both']).default('both'),
      },
      60_000,
    ),
  },
};
