import { both, type Examples } from '../../example.ts';

const path = async () => [
  { provider: 'openai', model: 'gpt-4o' },
  { provider: 'anthropic', model: 'claude-sonnet-4-5' },
  { provider: 'openrouter', model: 'openai/gpt-4o' },
];

export const examples: Examples = {
  'model-pricing.read': { callers: both, path },
  'model-settings.read': { callers: both, path },
};
