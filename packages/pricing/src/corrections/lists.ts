/** When the rows of current models were read. */
export const readOn = '2026-11-30';

/** Read in its npm package, `@earendil-works/pi-ai@1.6.0` of 2026-11-20. */
export const modelsDev = 'https://github.com/anomalyco/models.dev';

/** A gateway that charges what the vendors do, and names their pages. */
export const gatewayModel = (id: string) => `https://vercel.com/ai-gateway/models/${id}`;

export const announced = (discussion: number) =>
  `https://github.com/BerriAI/litellm/discussions/${discussion}`;

/** Who has Anthropic's own API, at its prices: the clouds only say who asks, and who pays. */
export const atAnthropic = ['anthropic', 'claude-google-cloud', 'claude-platform-aws'];
