/** What OpenAI's models take, as their vendor's refusals tell it: kept apart from what the gateway believes. */
export interface OpenAiRules {
  chat: boolean;
  responses: boolean;
  /** Empty: the model does not reason. */
  efforts: readonly string[];
  effortsInChat?: readonly string[];
  /** What a request without an effort gets. */
  effortDefault: string;
  /** Sampling is taken: always, beside the effort `none`, or never. */
  sampling: 'always' | 'unless-reasoning' | 'never';
  /** Functions beside reasoning are refused in chat completions. */
  toolsWantResponses: boolean;
  /** So are functions beside the effort `none`. */
  allToolsWantResponses?: boolean;
  /** Parts may say where a prefix of the prompt ends that is to be kept. */
  takesBreakpoints?: boolean;
}

const talks: OpenAiRules = {
  chat: true,
  responses: true,
  efforts: [],
  effortDefault: 'none',
  sampling: 'always',
  toolsWantResponses: false,
};

const reasons: OpenAiRules = {
  ...talks,
  efforts: ['low', 'medium', 'high'],
  effortDefault: 'medium',
  sampling: 'never',
};

const five: OpenAiRules = {
  ...reasons,
  efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
  effortDefault: 'none',
  sampling: 'unless-reasoning',
  toolsWantResponses: true,
};

/** https://developers.openai.com/api/docs/guides/latest-model, November 2026. */
const six: OpenAiRules = {
  ...five,
  effortDefault: 'medium',
  efforts: [...five.efforts, 'max'],
  effortsInChat: five.efforts,
  takesBreakpoints: true,
};

/** They cannot be kept from reasoning. */
const sixAlways: OpenAiRules = {
  ...six,
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  effortsInChat: ['low', 'medium', 'high', 'xhigh'],
  sampling: 'never',
};

const models: readonly (readonly [start: string, rules: OpenAiRules])[] = [
  ['gpt-6.1-terra', { ...six, allToolsWantResponses: true }],
  ['gpt-6.1-sol', sixAlways],
  ['gpt-6-astra', sixAlways],
  ['gpt-6-sol', six],
  ['gpt-6-luna', six],
  [
    'gpt-5.6',
    {
      ...five,
      effortDefault: 'medium',
      efforts: [...five.efforts, 'max'],
      effortsInChat: five.efforts,
      takesBreakpoints: true,
    },
  ],
  ['gpt-5.5-pro', { ...reasons, chat: false, efforts: ['medium', 'high', 'xhigh'] }],
  ['gpt-5.5', { ...five, effortDefault: 'medium' }],
  ['gpt-5.4', five],
  ['gpt-5.3-codex', { ...reasons, chat: false, efforts: ['low', 'medium', 'high', 'xhigh'] }],
  ['gpt-5.2-pro', { ...reasons, chat: false, efforts: ['medium', 'high', 'xhigh'] }],
  ['gpt-5.2-codex', { ...reasons, chat: false, efforts: ['low', 'medium', 'high', 'xhigh'] }],
  ['gpt-5.2', five],
  ['gpt-5.1', { ...five, efforts: ['none', 'low', 'medium', 'high'], toolsWantResponses: false }],
  ['gpt-5-codex', { ...reasons, chat: false }],
  ['gpt-5-pro', { ...reasons, chat: false, efforts: ['high'], effortDefault: 'high' }],
  ['gpt-5', { ...reasons, efforts: ['minimal', 'low', 'medium', 'high'] }],
  ['o3-deep-research', { ...reasons, chat: false, efforts: ['medium'] }],
  ['o3', reasons],
  ['gpt-4', talks],
];

export function rulesOfOpenAi(model: string): OpenAiRules | undefined {
  return models.find(([start]) => model.startsWith(start))?.[1];
}
